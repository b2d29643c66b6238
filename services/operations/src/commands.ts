import { type Command, WrongUsage } from './command.ts'

/** Each command with a line for the list of commands, and its module. Only the module of the given command is loaded. */
const COMMANDS: Record<string, { summary: string; load(): Promise<Command> }> = {
  rebuild: {
    summary: 'rebuild all read models from the log',
    load: () => import('./read-models/rebuild.ts'),
  },
  backup: {
    summary: 'back up the data folder, also while the service runs',
    load: () => import('./backup/backup.ts'),
  },
  restore: {
    summary: 'restore a backup into an empty data folder',
    load: () => import('./backup/restore.ts'),
  },
  'restore-check': {
    summary: 'compare read models, messages and images with a restored log',
    load: () => import('./backup/restore-check.ts'),
  },
  reset: {
    summary: 'drop what the services make again from a restored log',
    load: () => import('./backup/reset.ts'),
  },
  quarantine: {
    summary: 'list or retry the streams with an event that cannot be processed',
    load: () => import('./read-models/quarantine.ts'),
  },
  'copy-images': {
    summary: 'copy the bytes of images to another store',
    load: () => import('./copy-images.ts'),
  },
  'rotate-keys': {
    summary: 'give the running service a new key to sign login tokens or audit proofs',
    load: () => import('./keys/rotate-keys.ts'),
  },
  reseal: {
    summary: 'seal secrets again with the first key of ENCRYPTION_KEY',
    load: () => import('./keys/reseal.ts'),
  },
  'await-services': {
    summary: 'wait until the services have this release or a newer one',
    load: () => import('./await-services.ts'),
  },
  'events tail': { summary: 'print events as they happen', load: () => import('./events/tail.ts') },
  'events export': { summary: 'write past events to a file', load: () => import('./events/export.ts') },
  'events replay': {
    summary: 'send past events to a file, a NATS subject or a webhook',
    load: () => import('./events/replay.ts'),
  },
  'audit export': { summary: 'write the audit log to a file', load: () => import('./audit/export.ts') },
  'audit verify': {
    summary: 'check that an export is complete and unchanged',
    load: () => import('./audit/verify.ts'),
  },
}

/** @param group the first word of some commands; undefined for all */
const help = (group?: string) => `usage: gantry ${group ?? 'COMMAND'} ${group ? 'COMMAND ' : ''}[OPTION]...

commands:
${Object.entries(COMMANDS)
  .filter(([name]) => group === undefined || name.startsWith(`${group} `))
  .map(([name, { summary }]) => `  ${name.padEnd(14)} ${summary}`)
  .join('\n')}

"COMMAND --help" describes a command. In a checkout, "gantry" is "npm run" with "--" before the options; the
installed package has the other scripts of npm as well, e.g. "gantry start". Commands of events and audit call the service at BASE_URL with GANTRY_TOKEN.
The settings of the others are those of npm start; with MESSAGING_URL, those of a service.
exit codes: 0 done, 1 failed or refused, 2 wrong usage, 3 an export does not verify or a backup lacks images, 130 or 143 interrupted`

const isHelp = (argument: string | undefined) => argument === '--help' || argument === '-h'
const isKnown = (name: string): boolean => Object.hasOwn(COMMANDS, name)

/** Splits the words of a command line into the name of the command, of two words if such a command exists, and the rest. */
export function commandOf(words: readonly string[]): { name: string; args: string[] } {
  const length = isKnown(words.slice(0, 2).join(' ')) ? 2 : 1
  return { name: words.slice(0, length).join(' '), args: words.slice(length) }
}

/**
 * Runs the command that the words of a command line name.
 * @returns the exit code
 * @throws WrongUsage for an unknown command, and the errors of the command
 */
export async function runCommand(words: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const { name, args } = commandOf(words)
  if (isHelp(words[0])) {
    process.stdout.write(`${help()}\n`)
    return 0
  }
  if (words.length === 0) throw new WrongUsage(help())
  if (Object.keys(COMMANDS).some(known => known.startsWith(`${name} `))) return runOfGroup(name, args)
  const known = isKnown(name) ? COMMANDS[name] : undefined
  if (!known) throw new WrongUsage(`there is no command "${name}"\n${help()}`)
  const command = await known.load()
  if (!args.some(isHelp)) return command.run(args, environment)
  process.stdout.write(`${command.USAGE}\n`)
  return 0
}

/** The answer to a group without one of its commands. */
function runOfGroup(group: string, [command]: string[]): number {
  if (command === undefined) throw new WrongUsage(help(group))
  if (!isHelp(command)) throw new WrongUsage(`there is no command "${group} ${command}"\n${help(group)}`)
  process.stdout.write(`${help(group)}\n`)
  return 0
}
