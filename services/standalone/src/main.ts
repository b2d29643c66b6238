import { DataFolderRefused, DiskFull, isFull } from '@gantry/embedded'
import { NotListening } from '@gantry/hosting'
import { readSettings, SettingsRefused } from '@gantry/service-kit'
import { type Settings, settingsSchema } from './settings.ts'
import { type Standalone, startStandalone } from './standalone.ts'
import { welcome } from './welcome.ts'

const say = (line: string) => process.stdout.write(`${line}\n`)
const fail = (line: string): never => {
  process.stderr.write(`gantry: ${line}\n`)
  process.exit(1)
}

function settingsOrExit(): Settings {
  try {
    return readSettings(settingsSchema, process.env)
  } catch (error) {
    if (error instanceof SettingsRefused)
      return fail(`wrong settings\n  ${error.message.replaceAll('\n', '\n  ')}`)
    throw error
  }
}

/** A message for the operator; undefined for an internal error. */
function reasonOf(error: unknown, { DATA_DIR }: Settings): string | undefined {
  if (error instanceof DataFolderRefused) return error.message
  const full = fullDiskOf(error)
  if (full) {
    const what = full instanceof DiskFull ? full.message : `${DATA_DIR} cannot be written: the disk is full`
    return `${what}; free some space and start again`
  }
  return error instanceof NotListening ? hintOn(error) : undefined
}

/** The reason why a port cannot be used, and what the operator can do. */
function hintOn({ code, setting, port, message }: NotListening): string {
  const another = setting === 'METRICS_PORT' ? 8082 : 8081
  if (code === 'EADDRINUSE')
    return `port ${port} is taken: stop what uses it, or choose another with ${setting}=${another} npm start`
  if (code === 'EACCES')
    return `port ${port} may not be used by this user: choose one above 1023 with ${setting}`
  return message
}

/** The error of a full disk among the causes of an error. */
function fullDiskOf(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined
  return error instanceof DiskFull || isFull(error) ? error : fullDiskOf(error.cause)
}

// All files are created for this user alone.
process.umask(0o077)
const settings = settingsOrExit()
const startedAt = performance.now()
let running: Standalone | undefined
let stopping = false

/** Finishes open requests and stops. A second signal exits at once. */
async function stop(signal: NodeJS.Signals): Promise<void> {
  if (stopping) process.exit(1)
  stopping = true
  if (process.stdout.isTTY) say(`\n${signal}: finishing open requests`)
  await running?.stop()
  process.exit(0)
}
process.on('SIGTERM', stop)
process.on('SIGINT', stop)

try {
  running = await startStandalone(settings, {
    progress: say,
    firstAdministrator: credentials => say(welcome.administrator(credentials)),
  })
  say(welcome.ready(running, performance.now() - startedAt))
} catch (error) {
  const reason = reasonOf(error, settings)
  if (reason === undefined) throw error
  fail(reason)
}
