import { expect, test } from 'vitest'
import { testHistories } from './src/histories.ts'
import { play, type Step } from './src/history.ts'
import { NO_SNAPSHOTS } from './src/replica.ts'
import { shelf } from './src/services/shelf.ts'

testHistories(shelf, 40)

test('a process that is paused until tombstones are deleted restores no removed document', async () => {
  const ask = (replica: number, kind: string, name: number): Step[] => [
    { do: 'ask', replica, planned: { kind, target: 0, name, variant: 0 } },
  ]
  const run: Step = { do: 'run', calls: 60, order: 0 }
  const steps: Step[] = [
    run,
    ...ask(1, 'put', 0),
    { do: 'sleep', replica: 1 },
    ...ask(0, 'take', 0),
    run,
    ...ask(0, 'put', 1),
    run,
    { do: 'forget', calls: 100 },
    { do: 'release' },
  ]
  const { failure, trace } = await play(shelf, { replicas: 2, snapshotEvery: NO_SNAPSHOTS, steps })
  expect(trace).toContain('replica 2 eventStore append BookPut to shelf-s0 after -1 → act')
  expect(failure).toBeUndefined()
})
