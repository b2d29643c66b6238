import { CommandFailed } from '../command.ts'
import { TemporaryFailure } from '../retries.ts'

/** The service refuses the request. The message is for the user of the command. */
export class Refused extends CommandFailed {}

/** There is no connection to the service, or it was lost. */
export class ConnectionLost extends TemporaryFailure {}

/** The reason of a failed fetch, whose own message says only that it failed. */
export function reasonOf(error: unknown): string {
  const { message, cause } = error as Error & { cause?: Error & { code?: string } }
  return cause?.message || cause?.code || message || String(error)
}
