import { setTimeout } from 'node:timers/promises'
import { type Answer, answerOf } from './answer.ts'
import type { Contract, Operation } from './contract.ts'
import { faultsOf, isTimestamp, type Problem } from './problem.ts'
import { messagesOf } from './stream.ts'

type Value = string | number | boolean
export type Query = Record<string, Value | Value[] | undefined>

export type Body = string | FormData | Uint8Array<ArrayBuffer>

export interface Options {
  query?: Query
  headers?: Record<string, string>
  /** Sent as it is, instead of JSON. */
  body?: Body
  /** Allows a path or method that is not in the document. If it is listed, the response still has to match. */
  undocumented?: boolean
}

export interface Service {
  /** Without a trailing slash; may have a path. */
  baseUrl: string
  contract: Contract
  /** Called with every operation that succeeded. */
  exercised: (operation: Operation) => void
  /** Called with headers and body of every request and response, to collect the secrets in them. */
  seen?: (headers: Headers, body: unknown) => void
}

const pathOf = (path: string, query: Query = {}) => {
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [value].flat().map(item => [name, String(item)] as [string, string]),
    ),
  )
  return search.size === 0 ? path : `${path}?${search}`
}

/** Checks that every field with the name of a time is ISO 8601 UTC with milliseconds. @throws Error otherwise */
const checkTimes = (request: string, value: unknown, name = ''): void => {
  if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) checkTimes(request, item, key)
  }
  if (typeof value === 'string' && /(At|Until|^timestamp)$/.test(name) && !isTimestamp(value)) {
    throw new Error(`${request} answered ${name} ${value}, not ISO 8601 UTC with milliseconds`)
  }
}

/**
 * The client that all stories use. It fails on responses whose status, content type or body the OpenAPI document of the
 * service does not list, on refusals that are not complete problems, and on responses without X-Request-Id. It repeats a
 * request as the service asks when too many documents are being checked.
 */
export const clientOf = (service: Service, authorization?: string) => {
  const { baseUrl, contract, seen = () => {} } = service

  const operationOf = (method: string, path: string, options: Options) => {
    const operation = contract.find(method, path.split('?')[0] ?? path)
    if (operation === undefined && !options.undocumented) {
      throw new Error(`${method} ${path} is not in the document of the service`)
    }
    return operation
  }

  const send = (method: string, path: string, options: Options, json?: unknown, signal?: AbortSignal) => {
    const headers = new Headers({
      ...(authorization !== undefined && { authorization }),
      ...(json !== undefined && { 'content-type': 'application/json' }),
      ...options.headers,
    })
    seen(headers, json)
    return fetch(baseUrl + path, {
      method,
      redirect: 'manual',
      body: options.body ?? (json === undefined ? null : JSON.stringify(json)),
      headers,
      ...(signal && { signal }),
    })
  }

  const request = async (
    method: string,
    route: string,
    json?: unknown,
    options: Options = {},
  ): Promise<Answer> => {
    const path = pathOf(route, options.query)
    const operation = operationOf(method, path, options)
    const response = await send(method, path, options, json)
    const bytes = Buffer.from(await response.arrayBuffer())
    const { status, headers } = response
    const what = `${method} ${path}`

    if (!headers.get('x-request-id')) throw new Error(`${what} answered ${status} without X-Request-Id`)
    const head = method === 'HEAD'
    if (operation) contract.check(operation, { status, headers, bytes, head })
    const answer = answerOf(what, status, headers, bytes)
    seen(headers, answer.json)
    if (status >= 400 && !head) {
      const faults = faultsOf(answer.json, status, headers)
      if (faults.length > 0)
        throw new Error(`${what} answered ${status}, but ${faults.join('; ')}: ${answer.text}`)
      if (operation) contract.checkProblem(operation, status, (answer.json as { code?: unknown }).code)
    }
    if (status === 503 && (answer.json as Problem | undefined)?.code === 'too-many-checks') {
      await setTimeout(Number(headers.get('retry-after')) * 1_000)
      return request(method, route, json, options)
    }
    if (status < 400) checkTimes(what, answer.json)
    if (operation && response.ok) service.exercised(operation)
    return answer
  }

  return {
    authorization,
    get: (path: string, query?: Query, options: Options = {}) =>
      request('GET', path, undefined, { ...options, ...(query && { query }) }),
    head: (path: string, options?: Options) => request('HEAD', path, undefined, options),
    post: (path: string, json?: unknown, options?: Options) => request('POST', path, json, options),
    put: (path: string, json?: unknown, options?: Options) => request('PUT', path, json, options),
    delete: (path: string, options?: Options) => request('DELETE', path, undefined, options),
    request,

    /** Opens a streaming response of newline-delimited JSON or server-sent events; `signal` ends it. */
    stream: async (route: string, query: Query, headers: Record<string, string>, signal: AbortSignal) => {
      const path = pathOf(route, query)
      const operation = operationOf('GET', path, {})
      const response = await send('GET', path, { headers }, undefined, signal)
      const contentType = response.headers.get('content-type') ?? ''
      if (!response.ok || !response.body || !operation) {
        throw new Error(`GET ${path} answered ${response.status}: ${await response.text()}`)
      }
      const checkItem = contract.checkStream(operation, response.status, contentType)
      service.exercised(operation)
      return { contentType, messages: messagesOf(response.body, contentType, checkItem) }
    },
  }
}
export type Client = ReturnType<typeof clientOf>
