import { expect, test } from 'vitest'
import { run } from './src/program.ts'

test('the error of a program that exceeds its timeout says so', async () => {
  await expect(run('sleep', ['60'], { timeoutMs: 100 })).rejects.toThrow('sleep 60: was stopped after 0.1 s')
})

test('the error of a program that was killed names the signal', async () => {
  const killed = run('sh', ['-c', 'kill -KILL $$'], { timeoutMs: 10_000 })
  await expect(killed).rejects.toThrow('sh -c: SIGKILL')
})
