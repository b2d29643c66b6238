import { type Log, OperatorNeeded, supervise } from '@gantry/event-sourcing'
import { expect, test, vi } from 'vitest'

const elapsed = async (ms: number) => {
  const since = performance.now()
  await vi.waitFor(() => expect(performance.now() - since).toBeGreaterThan(ms), { interval: 5 })
}

test('a worker that needs an operator is not restarted and logs this once', async () => {
  const lines: string[] = []
  const note = (_: object, line: string) => void lines.push(line)
  const log: Log = { info: note, warn: note, error: note }
  let starts = 0
  const worker = supervise('test', log, async () => {
    starts++
    throw new OperatorNeeded('read the manual')
  })
  await vi.waitFor(() => expect(worker.waitsFor).toBe('an operator: read the manual'))
  await elapsed(300)
  expect({ starts, lines }).toEqual({
    starts: 1,
    lines: ['has stopped and waits for an operator: read the manual'],
  })
  await worker.stop()
})
