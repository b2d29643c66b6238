import { expect, test } from 'vitest'
import { run } from './src/program.ts'

test('a program that takes too long is said to have been stopped for that', async () => {
  await expect(run('sleep', ['60'], { timeoutMs: 100 })).rejects.toThrow('sleep 60: was stopped after 0.1 s')
})

test('a program that another process has killed is said to have been killed', async () => {
  const killed = run('sh', ['-c', 'kill -KILL $$'], { timeoutMs: 10_000 })
  await expect(killed).rejects.toThrow('sh -c: SIGKILL')
})
