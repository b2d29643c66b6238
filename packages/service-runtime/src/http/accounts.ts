import type { FastifyRequest } from 'fastify'
import { networkOf } from './client-network.ts'
import { callerOf, isAnonymous } from './request-context.ts'

/** Share of the limit that one caller may have, so that a single caller cannot block the others. */
const SHARE = 1 / 4
/** Advice to a caller at their limit, in seconds. */
export const RETRY_AFTER = '2'

/** Counts bytes in memory, in total and by account. */
export class Accounts {
  readonly limit: number
  #bytes = 0
  readonly #byAccount = new Map<string, number>()

  /** @param limit in bytes */
  constructor(limit: number) {
    this.limit = limit
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Whether some account may be at its limit. */
  get mayExceed(): boolean {
    return this.#bytes >= this.limit * SHARE
  }

  of(account: string): number {
    return this.#byAccount.get(account) ?? 0
  }

  /** Adds bytes, or subtracts them. @param account undefined for bytes of no account */
  add(account: string | undefined, bytes: number): void {
    this.#bytes += bytes
    if (account === undefined) return
    const own = this.of(account) + bytes
    if (own > 0) this.#byAccount.set(account, own)
    else this.#byAccount.delete(account)
  }

  /** Whether further bytes would exceed the share of the account. */
  exceedsShare(account: string, bytes: number): boolean {
    return this.of(account) + bytes > this.limit * SHARE
  }

  /** Whether further bytes would exceed the limit of the process. */
  exceedsLimit(bytes: number): boolean {
    return this.#bytes + bytes > this.limit
  }
}

/** The user of a request, whatever their credential; undefined for anonymous callers. */
export function userOf(request: FastifyRequest): string | undefined {
  const caller = callerOf(request)
  return caller && !isAnonymous(caller) ? caller.userId : undefined
}

/** The account that a request counts for: the user; for anonymous callers the network. */
export const accountOf = (request: FastifyRequest): string => userOf(request) ?? networkOf(request.ip)
