import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EventStoreDBClient } from '@eventstore/db-client'
import { beforeAll, describe, expect, it } from 'vitest'
import recording from './recorded/eventstoredb-answers.json' with { type: 'json' }
import { startEsdbStandIn } from './src/esdb-stand-in.ts'
import { comparable, type Recorded } from './src/fixtures/esdb-recorded.ts'
import { replayScenarios, type Way } from './src/fixtures/esdb-scenarios.ts'

const recorded: readonly Recorded[] = recording

/** Recorded calls that are not repeated, with the reason. */
const LEFT_OUT: Record<string, string> = {
  'read $all forwards, types of the first 12':
    'what the real server writes when it starts for the first time',
  'rate: unary, 1 at a time': 'a measure of one machine',
  'rate: unary, 64 at a time': 'a measure of one machine',
  'rate: batch append, 64 at a time': 'a measure of one machine',
  'rate: read $all': 'a measure of one machine',
}

/** Responses of which only a part is compared, with the reason. */
const PARTLY: Record<string, { why: string; compared(result: never): unknown }> = {
  'read $all backwards, 2': {
    why: 'the second is a link that a projection of the real server wrote',
    compared: ([last]: [unknown]) => [last],
  },
  'checkpoints seen (last 5)': {
    why: 'how many there are depends on what the projections had written; where pages begin, too',
    compared: ({ last }: { last: { commit: string; prepare: string }[] }) => ({
      last: last.map(position => (position.prepare === '0n' ? 'the beginning of a page' : position)),
    }),
  },
  'a server that is not there': {
    why: 'the time depends on the machine',
    compared: ({ e }: { e: unknown }) => ({ e }),
  },
}

/** Errors that have no code and text when the append is part of a batch call. The recorded appends were single calls. */
const PLAINER = ['append 1.1 MiB', 'append 5 MiB', 'append to a tombstoned stream']

const compared = (answers: readonly Recorded[]) =>
  comparable(
    answers.map(answer => {
      const partly = PARTLY[answer.name]
      return partly ? { ...answer, result: partly.compared(answer.result as never) } : answer
    }),
  )

describe.each<[Way, string]>([
  ['unary', 'with one append per call'],
  ['batch', 'with many appends per call'],
])('%s: the stand-in answers as EventStoreDB 23.10.6 did, %s', way => {
  let replayed: Recorded[]

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gantry-stand-in-'))
    const standIn = await startEsdbStandIn({ path: join(folder, 'events') })
    const client = EventStoreDBClient.connectionString(standIn.url)
    replayed = await replayScenarios(client, way)
    await standIn.stop()
    await rm(folder, { recursive: true })
  })

  const wanted = compared(
    recorded
      .filter(({ name }) => !(name in LEFT_OUT))
      .map(answer => (way === 'batch' && PLAINER.includes(answer.name) ? plainer(answer) : answer)),
  )

  for (const [index, answer] of wanted.entries()) {
    const why = PARTLY[answer.name]?.why
    it(why ? `${answer.name} (in part: ${why})` : answer.name, () => {
      expect(compared(replayed)[index]).toEqual(answer)
    })
  }
  it('every call that is not left out below, in the same order', () => {
    expect(replayed.map(({ name }) => name)).toEqual(wanted.map(({ name }) => name))
  })
})

describe('left out', () => {
  for (const [name, skipped] of Object.entries(LEFT_OUT)) it.skip(name, { meta: { skipped } }, () => {})

  it('contains only recorded calls', () => {
    const names = recorded.map(({ name }) => name)
    for (const name of [...Object.keys(LEFT_OUT), ...Object.keys(PARTLY), ...PLAINER]) {
      expect(names).toContain(name)
    }
  })
})

/** The recorded error without code and text. */
function plainer({ name, thrown }: Recorded): Recorded {
  const { code: _, ...rest } = thrown as Record<string, unknown>
  return { name, thrown: { ...rest, message: '' } }
}
