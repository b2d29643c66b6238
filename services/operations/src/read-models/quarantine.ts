import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { isRelay } from '@gantry/event-sourcing'
import { type Held, type Quarantine, quarantine, quarantineOver } from '@gantry/standalone'
import { CommandFailed, parsed, print, WrongUsage } from '../command.ts'
import { onInstallation } from '../installation.ts'

export const USAGE = `usage: npm run quarantine -- list [--json]
       npm run quarantine -- retry [STREAM]`

/** How long the command waits for a retry. The projectors finish it even after that. */
const RETRY_TIMEOUT_MS = 60_000
const POLL_MS = 200

type Request = { name: 'list'; json: boolean } | { name: 'retry'; stream: string | undefined }

/** Lists the held streams, or retries one or all. The exit code of a retry is 1 if a stream concerned stays quarantined. */
export async function run(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const request = requestIn(args)
  const perform = (streams: Quarantine, startProjectors?: () => Promise<void>) =>
    request.name === 'list' ? list(streams, request.json) : retry(streams, request.stream, startProjectors)
  return onInstallation('quarantine', environment, {
    running: peers => perform(quarantineOver(peers)),
    onStores: ({ readModels, projectors, isRunElsewhere, startProjectors }) =>
      perform(quarantine(readModels, projectors), isRunElsewhere ? undefined : startProjectors),
  })
}

function requestIn(args: string[]): Request {
  const options = { json: { type: 'boolean', default: false } } as const
  const { values, positionals } = parsed(USAGE, { args, options, allowPositionals: true })
  const [name, stream, ...others] = positionals
  if (name === 'list' && stream === undefined) return { name, json: values.json }
  if (name === 'retry' && others.length === 0 && !values.json) return { name, stream }
  throw new WrongUsage(USAGE)
}

async function list(streams: Quarantine, json: boolean): Promise<number> {
  const held = await streams.list()
  if (json) await print(JSON.stringify(held, null, 2))
  else await show(held)
  return 0
}

async function retry(
  streams: Quarantine,
  stream: string | undefined,
  startProjectors: (() => Promise<void>) | undefined,
): Promise<number> {
  const { byRelay, byProjector: before } = await concerned(streams, stream)
  if (before.length === 0 && stream !== undefined)
    throw new CommandFailed(
      byRelay[0] ? unpublished(byRelay[0]) : `the stream ${stream} is not held: see "list"`,
    )
  for (const held of byRelay) await print(unpublished(held))
  if (before.length === 0) {
    await print(byRelay.length === 0 ? 'No stream is held' : 'No stream is held by a projector')
    return 0
  }
  const id = randomUUID()
  const deadline = performance.now() + RETRY_TIMEOUT_MS
  let waiting = await streams.retry(id, stream)
  await startProjectors?.()
  while (waiting.length > 0) {
    if (performance.now() > deadline)
      throw new CommandFailed(
        `no answer from ${waiting.join(', ')} within ${RETRY_TIMEOUT_MS / 1000} s: a projector retries when its service starts`,
      )
    await setTimeout(POLL_MS)
    waiting = await streams.retry(id, stream)
  }
  const { byProjector: after } = await concerned(streams, stream)
  await show(after)
  const [were, are] = [streamsOf(before), streamsOf(after)]
  const released = [...were].filter(id => !are.has(id))
  await print(`${released.length} of ${were.size} released`)
  return after.some(({ status }) => status === 'QUARANTINED') ? 1 : 0
}

/** The held streams that a command names. Only streams that projectors hold can be retried. */
async function concerned(streams: Quarantine, stream: string | undefined) {
  const held = (await streams.list()).filter(({ id }) => stream === undefined || id === stream)
  const { byRelay = [], byProjector = [] } = Object.groupBy(held, ({ projector }) =>
    isRelay(projector) ? 'byRelay' : 'byProjector',
  )
  return { byRelay, byProjector }
}

const unpublished = ({ id, projector }: Held) =>
  `${id} is held by ${projector}, which publishes its event when the whole log is published again: ` +
  'see "Restoring the log" in docs/operations.md'

async function show(held: readonly Held[]): Promise<void> {
  for (const stream of held) await print(described(stream))
  const count = (status: Held['status']) => streamsOf(held.filter(stream => stream.status === status)).size
  await print(`${count('QUARANTINED')} quarantined, ${count('INCOMPLETE')} incomplete`)
}

/** A stream can be held by several projectors. */
const streamsOf = (held: readonly Held[]) => new Set(held.map(({ id }) => id))

const described = ({ id, status, projector, type, revision, position, reason }: Held) =>
  `${id}  ${status}  ${projector}\n  event ${revision} ${type} at position ${position}: ${reason}`
