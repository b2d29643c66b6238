import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { sqliteBus } from '@gantry/embedded'
import { readSettings } from '@gantry/service-kit'
import { openDataFolder } from './data-folder.ts'
import {
  type Installation,
  isExpected,
  isUnanswered,
  servicesInstallation,
  stoppedInstallation,
} from './installation.ts'
import { type Held, type Quarantine, quarantine, quarantineOver } from './quarantining.ts'
import { settingsSchema } from './settings.ts'

const USAGE = `usage: npm run quarantine -- list [--json]
       npm run quarantine -- retry [STREAM]`

/** How long the command waits for a retry. The projectors finish it even after that. */
const TIMEOUT_MS = 60_000
const LOOK_MS = 200

class Refused extends Error {
  readonly exitCode: number
  constructor(message: string, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

type Command = { name: 'list'; json: boolean } | { name: 'retry'; stream: string | undefined }

function commandAsked(): Command {
  try {
    const { values, positionals } = parseArgs({
      options: { json: { type: 'boolean', default: false } },
      allowPositionals: true,
    })
    const [name, stream, ...others] = positionals
    if (name === 'list' && stream === undefined) return { name, json: values.json }
    if (name === 'retry' && others.length === 0 && !values.json) return { name, stream }
  } catch {}
  throw new Refused(USAGE, 2)
}

const say = (line: string): void => void process.stdout.write(`${line}\n`)

const described = ({ id, status, projector, type, revision, position, reason }: Held) =>
  `${id}  ${status}  ${projector}\n  event ${revision} ${type} at position ${position}: ${reason}`

function show(held: readonly Held[]): void {
  for (const stream of held) say(described(stream))
  const count = (status: Held['status']) => held.filter(stream => stream.status === status).length
  say(`${count('QUARANTINED')} quarantined, ${count('INCOMPLETE')} incomplete`)
}

async function retry(own: Quarantine, stream: string | undefined, start: () => Promise<void>) {
  const before = await own.list()
  const concerned = before.filter(({ id }) => stream === undefined || id === stream)
  if (concerned.length === 0) {
    if (stream !== undefined) throw new Refused(`the stream ${stream} is not held: see "list"`)
    return say('No stream is held')
  }
  const id = randomUUID()
  const deadline = performance.now() + TIMEOUT_MS
  let waiting = await own.retry(id, stream)
  await start()
  while (waiting.length > 0) {
    if (performance.now() > deadline)
      throw new Refused(
        `no answer from ${waiting.join(', ')} within ${TIMEOUT_MS / 1000} s: a projector retries when its service starts`,
      )
    await setTimeout(LOOK_MS)
    waiting = await own.retry(id, stream)
  }
  const still = (await own.list()).filter(held => stream === undefined || held.id === stream)
  show(still)
  const released = concerned.filter(({ id, projector }) =>
    still.every(held => held.id !== id || held.projector !== projector),
  )
  say(`${released.length} of ${concerned.length} released`)
  if (still.some(({ status }) => status === 'QUARANTINED')) process.exitCode = 1
}

async function run(command: Command, own: Quarantine, start: () => Promise<void>): Promise<void> {
  if (command.name === 'retry') return retry(own, command.stream, start)
  const held = await own.list()
  if (command.json) say(JSON.stringify(held, null, 2))
  else show(held)
}

async function inInstallation(command: Command, installation: Installation): Promise<void> {
  try {
    const own = quarantine(installation.readModels, installation.projectors)
    await run(command, own, installation.startProjectors)
  } finally {
    await installation.close()
  }
}

/** Runs the command in a running standalone service, or on the data folder if none is running. */
async function inDataFolder(command: Command): Promise<void> {
  const settings = readSettings(settingsSchema, process.env)
  const folder = openDataFolder(settings.DATA_DIR, settings.ENCRYPTION_KEY)
  const bus = sqliteBus({ path: folder.messages })
  try {
    return await run(command, quarantineOver(bus), async () => {})
  } catch (error) {
    if (!isUnanswered(error)) throw error
  } finally {
    await bus.close()
  }
  await inInstallation(command, stoppedInstallation(settings, folder))
}

// All files are created for this user alone.
process.umask(0o077)
try {
  const command = commandAsked()
  await (process.env.MESSAGING_URL
    ? inInstallation(command, await servicesInstallation('quarantine', process.env))
    : inDataFolder(command))
} catch (error) {
  if (!(error instanceof Refused || isExpected(error))) throw error
  process.stderr.write(`gantry quarantine: ${error.message}\n`)
  process.exit(error instanceof Refused ? error.exitCode : 1)
}
