import rateLimit, { type FastifyRateLimitStore, normalizeIP } from '@fastify/rate-limit'
import { Refusal } from '@gantry/event-sourcing'
import { callerOf } from '@gantry/service-kit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

const WINDOW_MS = 60_000

/** Where replicas count together. Keys tell the limits apart; `read` looks without counting. */
export type RateLimitStore = new () => FastifyRateLimitStore & { read: FastifyRateLimitStore['incr'] }

/** Counts the request, or only looks when `count` is false. @throws Refusal too-many-requests */
export type Limit = (
  request: FastifyRequest,
  reply: FastifyReply,
  options?: { count: boolean },
) => Promise<void>

/** The limits that are on. */
export interface RateLimits {
  principal?: Limit
  address?: Limit
  login?: Limit
}

export interface RateLimitOptions {
  /** 0 for any number. */
  perMinute: number
  loginsPerMinute: number
  /** Without it each replica counts for itself, in memory. */
  store?: RateLimitStore
}

/** Limits by the minute. Addresses of IPv6 count by their /64, which is what one customer has. */
export async function rateLimits(app: FastifyInstance, options: RateLimitOptions): Promise<RateLimits> {
  const { perMinute, loginsPerMinute, store } = options
  // A store that is away limits nobody: better too much work than none.
  await app.register(rateLimit, { global: false, skipOnError: true, ...(store && { store }) })

  const limit = (max: number, keyGenerator: (request: FastifyRequest) => string): Limit => {
    const hit = app.createRateLimit({ max, timeWindow: WINDOW_MS, keyGenerator })
    return async (request, reply, { count } = { count: true }) => {
      const state = await hit(request, { increment: count })
      if (state.isAllowed) return
      const headers = {
        'ratelimit-limit': String(max),
        'ratelimit-remaining': String(state.remaining),
        'ratelimit-reset': String(state.ttlInSeconds),
      }
      if (!state.isExceeded) {
        if (count) reply.headers(headers)
        return
      }
      throw new Refusal('too-many-requests', {
        detail: `more than ${max} in a minute: try again in ${state.ttlInSeconds} s`,
        headers: { ...headers, 'retry-after': String(state.ttlInSeconds) },
      })
    }
  }
  return {
    ...(perMinute > 0 && {
      principal: limit(perMinute, request => `principal ${callerOf(request)?.userId}`),
      address: limit(perMinute, request => `address ${normalizeIP(request.ip)}`),
    }),
    ...(loginsPerMinute > 0 && {
      login: limit(loginsPerMinute, request => `login ${normalizeIP(request.ip)}`),
    }),
  }
}
