import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { service } from './gantry.ts'

interface RawAnswer {
  status: number
  headers: Headers
  bytes: Buffer
}

const ANSWER_MS = 20_000

const base = new URL(service.baseUrl)
export const HOST = base.host
/** The path of the base URL, without a trailing slash. */
export const PREFIX = base.pathname.replace(/\/$/, '')

/** A connection to the service under test. */
function open(): Socket {
  const secure = base.protocol === 'https:'
  const port = Number(base.port || (secure ? 443 : 80))
  return secure ? connectTls({ port, host: base.hostname }) : connect(port, base.hostname)
}

/**
 * Sends a request in HTTP/1.1 whose target is unchanged, while client libraries normalize it, and which may be unfinished.
 * @returns the first final response; then the connection is closed
 */
export async function ask(
  method: string,
  target: string,
  lines: readonly string[] = [],
  body = '',
): Promise<RawAnswer> {
  const socket = open()
  let received = Buffer.alloc(0)
  let closed = false
  const done = Promise.withResolvers<RawAnswer>()
  const look = () => {
    const answer = answerIn(received, { method, closed })
    if (answer) done.resolve(answer)
    else if (closed) done.reject(new Error(`${method} ${target} was not answered`))
  }
  socket.on('data', (part: Buffer) => {
    received = Buffer.concat([received, part])
    look()
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    closed = true
    look()
  })
  const head = [`${method} ${target} HTTP/1.1`, `Host: ${HOST}`, ...lines].join('\r\n')
  socket.write(`${head}\r\n\r\n${body}`, 'latin1')
  const late = setTimeout(
    () => done.reject(new Error(`no answer after ${ANSWER_MS} ms: ${received}`)),
    ANSWER_MS,
  )
  try {
    return await done.promise
  } finally {
    clearTimeout(late)
    socket.destroy()
  }
}

/** The first final response, once it is complete. For a stream of events the headers are enough. */
function answerIn(
  received: Buffer,
  { method, closed }: { method: string; closed: boolean },
): RawAnswer | undefined {
  const end = received.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const [first = '', ...lines] = received.subarray(0, end).toString('latin1').split('\r\n')
  const rest = received.subarray(end + 4)
  const status = Number(/^HTTP\/1\.1 (\d{3})( |$)/.exec(first)?.[1])
  if (!status) throw new Error(`no answer in HTTP/1.1: ${first}`)
  if (status < 200) return answerIn(rest, { method, closed })
  const headers = new Headers(
    lines.map(line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const bytes =
    method === 'HEAD' || status === 204 || status === 304 ? Buffer.alloc(0) : bodyIn(rest, headers, closed)
  return bytes && { status, headers, bytes }
}

/** @returns undefined while the body is incomplete */
function bodyIn(rest: Buffer, headers: Headers, closed: boolean): Buffer | undefined {
  if (/^(application\/x-ndjson|text\/event-stream)/.test(headers.get('content-type') ?? ''))
    return Buffer.alloc(0)
  const length = headers.get('content-length')
  if (length !== null) return rest.length >= Number(length) ? rest.subarray(0, Number(length)) : undefined
  if (headers.get('transfer-encoding') === 'chunked') return chunksIn(rest)
  return closed ? rest : undefined
}

function chunksIn(rest: Buffer): Buffer | undefined {
  const chunks: Buffer[] = []
  for (let at = 0; ; ) {
    const line = rest.indexOf('\r\n', at)
    if (line === -1) return undefined
    const size = Number.parseInt(rest.subarray(at, line).toString('latin1'), 16)
    if (size === 0) return Buffer.concat(chunks)
    chunks.push(rest.subarray(line + 2, line + 2 + size))
    at = line + 2 + size + 2
  }
}
