import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type History, play, type Step } from './history.ts'
import { NO_SNAPSHOTS, type PlannedRequest, type ServiceUnderTest } from './replica.ts'
import { smaller } from './smaller.ts'

/** This seed has found skipped events. It runs without rebuilds, which would repair them. */
const FIXED_SEED = 22_750_261

const number = (max: number) => fc.nat({ max })

/**
 * Histories of a service: the requests, the faults meanwhile, and the order of all calls.
 * @param withOthers whether some histories include rebuilds and the deletion of tombstones
 */
function histories({ requests, often }: ServiceUnderTest, withOthers: boolean): fc.Arbitrary<History> {
  const planned = fc.record({
    kind: fc.constantFrom(...Object.keys(requests), ...often),
    target: number(1),
    name: number(2),
    variant: number(5),
  })
  const call = number(9)
  const step = fc.oneof(
    { weight: 16, arbitrary: fc.record({ do: fc.constant('ask' as const), replica: number(2), planned }) },
    {
      weight: 14,
      arbitrary: fc.record({
        do: fc.constant('run' as const),
        calls: fc.integer({ min: 1, max: 20 }),
        order: number(1_000),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('act', 'fail', 'lose'), call }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('hold' as const), call }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('release' as const) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('interrupt' as const),
        port: fc.constantFrom('readModels', 'readModels', 'eventStore', 'bus'),
        calls: fc.integer({ min: 1, max: 8 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('kill' as const), replica: number(2) }) },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(100, 1_000, 6_000) }),
    },
  ) as fc.Arbitrary<Step>
  return fc
    .record({
      replicas: fc.integer({ min: 2, max: 3 }),
      steps: fc.array(step, { minLength: 10, maxLength: 60, size: 'max' }),
      // The last random fields, so that the fixed seed keeps its steps.
      snapshotEvery: fc.constantFrom(1, 3, NO_SNAPSHOTS),
      others: fc.array(fc.record({ after: number(60), steps: others(planned) }), { maxLength: 4 }),
    })
    .map(({ steps, others, ...rest }) => ({
      ...rest,
      steps: withOthers ? others.reduce(withOther, steps) : steps,
    }))
}

const withOther = (all: Step[], { after, steps }: { after: number; steps: Step[] }) =>
  all.toSpliced(after % all.length, 0, ...steps)

/** Rare steps: a rebuild, the deletion of tombstones, and that deletion while a process is paused. */
function others(planned: fc.Arbitrary<PlannedRequest>): fc.Arbitrary<Step[]> {
  const forget: Step = { do: 'forget', calls: 100 }
  const pausedBetween = fc
    .record({ replica: number(2), planned, calls: number(6), next: planned, last: planned })
    .map(({ replica, planned, calls, next, last }): Step[] => [
      { do: 'ask', replica, planned },
      { do: 'run', calls, order: 0 },
      { do: 'sleep', replica },
      { do: 'ask', replica: replica + 1, planned: { ...next, target: planned.target, name: planned.name } },
      { do: 'run', calls: 40, order: 0 },
      // The tombstone that is the last change of a collection is kept.
      { do: 'ask', replica: replica + 1, planned: last },
      { do: 'run', calls: 40, order: 0 },
      forget,
      { do: 'release' },
    ])
  /** Requests while a generation is built, switched and dropped, at the speed at which a projector works alone. */
  const rebuilding = fc
    .record({
      projector: number(1),
      meanwhile: fc.array(fc.record({ replica: number(2), planned, calls: number(40), ms: number(1_500) }), {
        minLength: 2,
        maxLength: 6,
      }),
      isCancelled: fc.boolean(),
    })
    .map(({ projector, meanwhile, isCancelled }): Step[] => [
      { do: 'rebuild', projector },
      ...meanwhile.flatMap(({ replica, planned, calls, ms }): Step[] => [
        { do: 'wait', ms },
        { do: 'run', calls, order: 0 },
        { do: 'ask', replica, planned },
        { do: 'run', calls, order: calls },
      ]),
      ...(isCancelled ? [{ do: 'cancel' as const, projector }] : []),
    ])
  return fc.oneof(
    number(1).map((projector): Step[] => [{ do: 'rebuild', projector }]),
    rebuilding,
    fc.constant<Step[]>([forget]),
    pausedBetween,
  )
}

/**
 * Tests that after random histories of a service its read models equal those of a rebuild, and that acknowledged writes
 * could be read. HISTORIES sets the number of histories per seed, HISTORIES_SEED one seed instead of the two.
 */
export function testHistories(service: ServiceUnderTest, count: number): void {
  const { HISTORIES, HISTORIES_SEED } = process.env
  const fresh = Date.now() % 0x7fffffff
  const seeds: [string, number][] = HISTORIES_SEED
    ? [['given', Number(HISTORIES_SEED)]]
    : [
        ['fixed', FIXED_SEED],
        ['fresh', fresh],
      ]
  const numRuns = Number(HISTORIES ?? count)

  describe(`the read models of ${service.name}`, () => {
    test.for(seeds)('equal those of a rebuild after any history of the %s seed', async ([kind, seed]) => {
      console.log(`${service.name}: ${numRuns} histories of the ${kind} seed, HISTORIES_SEED=${seed}`)
      for (const [index, history] of fc
        .sample(histories(service, seed !== FIXED_SEED), { seed, numRuns })
        .entries()) {
        if (!(await fails(service, history))) continue
        const smallest = await smaller(history, tried => fails(service, tried))
        throw new Error(await report(service, smallest, `history ${index} of HISTORIES_SEED=${seed}`))
      }
    })

    test('are made in the same way when the same history is repeated', async () => {
      const [history] = fc.sample(histories(service, true), { seed: FIXED_SEED, numRuns: 1 })
      if (!history) throw new Error('there is no history')
      const { trace, failure } = await play(service, history)
      expect(trace.length).toBeGreaterThan(history.steps.length)
      expect(await play(service, history)).toEqual({ trace, failure })
    })
  })
}

const fails = async (service: ServiceUnderTest, history: History) =>
  (await play(service, history)).failure !== undefined

async function report(service: ServiceUnderTest, history: History, name: string) {
  const { failure, trace } = await play(service, history)
  return [
    `${name} fails. Reduced to the steps that are needed for the failure, ${history.replicas} replicas:`,
    ...history.steps.map(step => `  ${JSON.stringify(step)}`),
    'What happened:',
    ...trace.map(line => `  ${line}`),
    failure,
  ].join('\n')
}
