import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type Held, type Quarantine, quarantine, quarantineOver } from '@gantry/standalone'
import { CommandFailed, WrongUsage } from './command.ts'
import { onInstallation } from './installation.ts'

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
    running: bus => perform(quarantineOver(bus)),
    onStores: ({ readModels, projectors, isRunElsewhere, startProjectors }) =>
      perform(quarantine(readModels, projectors), isRunElsewhere ? undefined : startProjectors),
  })
}

function requestIn(args: string[]): Request {
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { json: { type: 'boolean', default: false } },
      allowPositionals: true,
    })
    const [name, stream, ...others] = positionals
    if (name === 'list' && stream === undefined) return { name, json: values.json }
    if (name === 'retry' && others.length === 0 && !values.json) return { name, stream }
  } catch {}
  throw new WrongUsage(USAGE)
}

async function list(streams: Quarantine, json: boolean): Promise<number> {
  const held = await streams.list()
  if (json) print(JSON.stringify(held, null, 2))
  else show(held)
  return 0
}

async function retry(
  streams: Quarantine,
  stream: string | undefined,
  startProjectors: (() => Promise<void>) | undefined,
): Promise<number> {
  const before = await concerned(streams, stream)
  if (before.length === 0) {
    if (stream !== undefined) throw new CommandFailed(`the stream ${stream} is not held: see "list"`)
    print('No stream is held')
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
  const after = await concerned(streams, stream)
  show(after)
  const [were, are] = [streamsOf(before), streamsOf(after)]
  const released = [...were].filter(id => !are.has(id))
  print(`${released.length} of ${were.size} released`)
  return after.some(({ status }) => status === 'QUARANTINED') ? 1 : 0
}

const concerned = async (streams: Quarantine, stream: string | undefined) =>
  (await streams.list()).filter(({ id }) => stream === undefined || id === stream)

function show(held: readonly Held[]): void {
  for (const stream of held) print(described(stream))
  const count = (status: Held['status']) => streamsOf(held.filter(stream => stream.status === status)).size
  print(`${count('QUARANTINED')} quarantined, ${count('INCOMPLETE')} incomplete`)
}

/** A stream can be held by several projectors. */
const streamsOf = (held: readonly Held[]) => new Set(held.map(({ id }) => id))

const described = ({ id, status, projector, type, revision, position, reason }: Held) =>
  `${id}  ${status}  ${projector}\n  event ${revision} ${type} at position ${position}: ${reason}`

const print = (line: string): void => void process.stdout.write(`${line}\n`)
