import { resolve } from 'node:path'
import { type ParseArgsConfig, parseArgs } from 'node:util'

/** A command of operators: the exports of its module. */
export interface Command {
  /** One line per form of the command. */
  readonly USAGE: string
  /**
   * @param args the arguments after the name of the command
   * @param environment the settings
   * @returns the exit code: 0 when everything is done
   * @throws CommandFailed, WrongUsage, or an error of a setting, the data folder or a backing store
   */
  run(args: string[], environment: NodeJS.ProcessEnv): Promise<number>
}

/** The command cannot do its work. The message is for the operator. */
export class CommandFailed extends Error {}

/** The arguments are wrong. The message is the usage. */
export class WrongUsage extends Error {}

/** Parses the arguments of a command. @throws WrongUsage with the reason and the usage */
export function parsed<const Config extends ParseArgsConfig>(
  usage: string,
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config)
  } catch (error) {
    throw new WrongUsage(`${(error as Error).message}\n${usage}`)
  }
}

/** A time with any offset, or a date, in the format of the interface. @throws WrongUsage when it is no time */
export function instant(time: string | undefined, usage: string): string | undefined {
  if (time === undefined) return undefined
  if (Number.isNaN(Date.parse(time))) throw new WrongUsage(`${time} is no time\n${usage}`)
  return new Date(time).toISOString()
}

/** The end of a command by SIGINT or SIGTERM. */
export interface Interruption {
  /** Aborted by the first signal. The second one ends the process at once. */
  signal: AbortSignal
  /** The exit code: 128 and the number of the signal if one came, otherwise the given one. */
  code(otherwise: number): number
}

const CODES = { SIGINT: 130, SIGTERM: 143 } as const

export function interruption(): Interruption {
  const controller = new AbortController()
  let interrupted: number | undefined
  for (const [name, code] of Object.entries(CODES))
    process.on(name, () => {
      if (interrupted !== undefined) process.exit(code)
      interrupted = code
      controller.abort()
    })
  return { signal: controller.signal, code: otherwise => interrupted ?? otherwise }
}

/** Writes a line for the user to stderr, so that stdout has the result alone. */
export const notice = (line: string): void => void process.stderr.write(`${line}\n`)

/** Writes a line of the result to stdout. Resolves when it is written, so that a slow reader slows the command down. */
export const print = (text: string): Promise<void> =>
  new Promise((written, failed) =>
    process.stdout.write(`${text}\n`, error => (error ? failed(error) : written())),
  )

/** Replaces control characters, so that text from events cannot send commands to a terminal. */
export const harmless = (text: string) => text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, '�')

/** The path of a file that the user named, relative to the folder in which they typed the command. */
export const fileOf = (path: string, { INIT_CWD }: NodeJS.ProcessEnv) =>
  resolve(INIT_CWD ?? process.cwd(), path)
