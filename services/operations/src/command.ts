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

/** Parses the arguments of a command. @throws WrongUsage with its usage */
export function parsed<const Config extends ParseArgsConfig>(
  usage: string,
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config)
  } catch {
    throw new WrongUsage(usage)
  }
}
