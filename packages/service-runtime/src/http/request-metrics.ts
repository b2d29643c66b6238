import type { FastifyReply, FastifyRequest } from 'fastify'
import { Counter, Histogram, type Registry } from 'prom-client'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether requests come from the platform: health checks and scrapes. They are not in the metrics of requests. */
    probe?: boolean
  }
}

const DURATION = 'gantry_http_request_duration_seconds'
const RESPONSES = 'gantry_http_responses_total'
const CLASSES = ['2xx', '3xx', '4xx', '5xx']

/**
 * Registers the metrics of requests, which the servers of a process share.
 * @returns a function that observes a request at the end of its response. Health checks and scrapes are left out: a process
 *   gets several of them per second, which would hide failures of the few requests of users, or be taken for users.
 */
export function observeRequest(registry: Registry): (request: FastifyRequest, reply: FastifyReply) => void {
  const seconds = observers(durations(registry))
  const responses = responseCounter(registry)
  return (request, reply) => {
    const { url: route = 'none', config } = request.routeOptions
    if (config?.probe) return
    seconds(request.method, route, reply.statusCode).observe(reply.elapsedTime / 1000)
    // Paths that do not exist are not an operation, and scanners ask for many of them.
    if (!request.is404) responses.inc({ class: `${Math.floor(reply.statusCode / 100)}xx` })
  }
}

const durations = (registry: Registry): Histogram =>
  (registry.getSingleMetric(DURATION) as Histogram | undefined) ??
  new Histogram({
    name: DURATION,
    help: 'Seconds from the receipt of a request to the end of its response, without health checks and scrapes',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  })

/** Each class begins with 0: a counter that begins with its first failure has no increase for `rate()`. */
function responseCounter(registry: Registry): Counter<'class'> {
  const known = registry.getSingleMetric(RESPONSES) as Counter<'class'> | undefined
  if (known) return known
  const counter = new Counter({
    name: RESPONSES,
    help: 'Responses to requests of operations, by class of the status; without health checks, scrapes and unknown paths',
    labelNames: ['class'],
    registers: [registry],
  })
  for (const name of CLASSES) counter.inc({ class: name }, 0)
  return counter
}

/** Caches the children of the histogram by labels: looking one up costs more than observing. */
function observers(duration: Histogram) {
  const known = new Map<string, ReturnType<Histogram['labels']>>()
  return (method: string, route: string, status: number) => {
    const key = `${method} ${status} ${route}`
    let part = known.get(key)
    if (!part) {
      part = duration.labels({ method, route, status: String(status) })
      known.set(key, part)
    }
    return part
  }
}
