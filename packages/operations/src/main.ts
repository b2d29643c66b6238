import { DataFolderRefused, DiskFull } from '@gantry/embedded'
import { EventStoreUnavailable } from '@gantry/event-sourcing'
import { BusUnavailable, RequestFailed } from '@gantry/messaging'
import { ReadModelsUnavailable } from '@gantry/read-models'
import { SettingsRefused } from '@gantry/service-kit'
import { type Command, CommandFailed, WrongUsage } from './command.ts'

/** Each command with a line for the list of commands, and its module. Only the module of the given command is loaded. */
const COMMANDS: Record<string, { summary: string; load(): Promise<Command> }> = {
  rebuild: { summary: 'rebuild all read models from the log', load: () => import('./rebuild.ts') },
  quarantine: {
    summary: 'list or retry the streams with an event that cannot be processed',
    load: () => import('./quarantine.ts'),
  },
  'rotate-keys': {
    summary: 'give the running service a new key to sign login tokens',
    load: () => import('./rotate-keys.ts'),
  },
}

const HELP = `usage: node packages/operations/src/main.ts COMMAND [OPTION]...

commands:
${Object.entries(COMMANDS)
  .map(([name, { summary }]) => `  ${name.padEnd(12)} ${summary}`)
  .join('\n')}

"COMMAND --help" describes a command. The settings are those of npm start; with MESSAGING_URL, those of a service.
exit codes: 0 done, 1 failed or refused, 2 wrong usage`

/** Errors whose message is enough for an operator: an error of a setting, a folder or a backing store. */
const EXPECTED = [
  BusUnavailable,
  CommandFailed,
  DataFolderRefused,
  DiskFull,
  EventStoreUnavailable,
  ReadModelsUnavailable,
  RequestFailed,
  SettingsRefused,
  WrongUsage,
]

const [name, ...args] = process.argv.slice(2)
const isHelp = (argument: string | undefined) => argument === '--help' || argument === '-h'

/** @returns the exit code */
async function run(): Promise<number> {
  if (isHelp(name)) {
    process.stdout.write(`${HELP}\n`)
    return 0
  }
  if (name === undefined) throw new WrongUsage(HELP)
  const known = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (!known) throw new WrongUsage(`there is no command "${name}"\n${HELP}`)
  const command = await known.load()
  if (!args.some(isHelp)) return command.run(args, process.env)
  process.stdout.write(`${command.USAGE}\n`)
  return 0
}

// All files are created for this user alone.
process.umask(0o077)
try {
  process.exitCode = await run()
} catch (error) {
  if (!EXPECTED.some(kind => error instanceof kind)) throw error
  process.stderr.write(`gantry${name === undefined ? '' : ` ${name}`}: ${(error as Error).message}\n`)
  process.exit(error instanceof WrongUsage ? 2 : 1)
}
