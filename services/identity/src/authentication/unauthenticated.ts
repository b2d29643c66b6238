import { Refusal } from '@gantry/event-sourcing'
import { errors } from 'jose'

/** Refuses a credential, and says what is wrong with it where that helps nobody who should not have it. */
export const unauthenticated = (detail: string) => new Refusal('unauthenticated', { detail })

/** Why a JSON Web Token was refused (RFC 7519 §7.2); any other error as it is. */
export function refusalOfToken(error: unknown, what: string): unknown {
  if (error instanceof errors.JWTExpired) return unauthenticated(`the ${what} has expired`)
  if (error instanceof errors.JOSEError) return unauthenticated(`the ${what} is not valid`)
  return error
}
