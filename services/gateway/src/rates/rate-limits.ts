import rateLimit, { type FastifyRateLimitStore } from '@fastify/rate-limit'
import { Refusal } from '@gantry/contracts'
import { callerOf, networkOf } from '@gantry/service-runtime'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

const WINDOW_MS = 60_000

/** Counters that replicas share. Keys tell the limits apart; `read` does not count. */
export type RateLimitStore = new () => FastifyRateLimitStore & { read: FastifyRateLimitStore['incr'] }

/** Counts the request, or only checks the limit when `count` is false. @throws Refusal too-many-requests */
type Limit = (request: FastifyRequest, reply: FastifyReply, options?: { count: boolean }) => Promise<void>

export interface RateLimits {
  principal?: Limit
  address?: Limit
  login?: Limit
}

export interface RateLimitOptions {
  /** Requests per minute; 0 for no limit. */
  perMinute: number
  loginsPerMinute: number
  /** Shared counters. Without it each replica counts for itself, in memory. */
  store?: RateLimitStore
}

/** Creates the limits, each per minute. IPv6 addresses count by their /64 network, the usual assignment per customer. */
export async function rateLimits(app: FastifyInstance, options: RateLimitOptions): Promise<RateLimits> {
  const { perMinute, loginsPerMinute, store } = options
  // Requests are admitted while the store fails.
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
      address: limit(perMinute, request => `address ${networkOf(request.ip)}`),
    }),
    ...(loginsPerMinute > 0 && {
      login: limit(loginsPerMinute, request => `login ${networkOf(request.ip)}`),
    }),
  }
}
