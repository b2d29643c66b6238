import { CommandFailed, notice, print, WrongUsage } from '../command.ts'
import { onServices } from '../installation.ts'
import { compareWithLog } from './comparison.ts'

export const USAGE = 'usage: gantry restore-check   (with the settings of a service)'

/** Says whether read models, bus, images and documents fit to the log, e.g. after one of them was restored. Changes nothing. */
export async function run(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  if (args.length > 0) throw new WrongUsage(USAGE)
  if (!environment.MESSAGING_URL)
    throw new CommandFailed(
      'MESSAGING_URL: must be set: npm run restore has checked the data of a standalone service',
    )
  const { head, foreign, missingBytes } = await onServices('restore-check', environment, compareWithLog)
  await print(`The log ends at position ${head || 'none: it is empty'}`)
  for (const line of foreign) notice(line)
  for (const sha256 of missingBytes) notice(`the bytes ${sha256} of an image or document are missing`)
  if (foreign.length > 0)
    throw new CommandFailed('the log is not that of the rest: stop all services, then run gantry reset')
  if (missingBytes.length > 0)
    throw new CommandFailed('restore the blobs from a backup that was taken after that of the log')
  await print('Read models, relays, messages, images and documents fit to the log')
  return 0
}
