import { Refusal } from '@gantry/contracts'
import { errors } from 'jose'

/** The refusal of a credential. @param detail is shown to the caller, so it must not help an attacker */
export const unauthenticated = (detail: string) => new Refusal('unauthenticated', { detail })

/** Converts an error of JWT verification (RFC 7519 §7.2) to a refusal. @returns any other error unchanged */
export function refusalOfToken(error: unknown, what: string): unknown {
  if (error instanceof errors.JWTExpired) return unauthenticated(`the ${what} has expired`)
  if (error instanceof errors.JOSEError) return unauthenticated(`the ${what} is not valid`)
  return error
}
