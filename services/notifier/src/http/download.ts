import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { documentTooLarge, MAX_DOCUMENT_BYTES, Refusal } from '@gantry/contracts'
import { charsetOf, Slots } from '@gantry/service-runtime'
import { Agent, type Dispatcher, request } from 'undici'
import { type ConnectOptions, vettedConnector } from './connect.ts'
import { AttemptFailure } from './failure.ts'
import { hostResolver } from './host-resolver.ts'

/** Time for a document with all redirects, in milliseconds. Catalog waits for 17 s. */
const TIMEOUT_MS = 12_000
const WAIT_MS = 3_000
const MAX_REDIRECTS = 3
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
/** Documents in memory at the same time. */
const AT_ONCE = 2
/** Headers and the framing of chunks, in addition to the document. */
const OVERHEAD_BYTES = 1_048_576

const compressed = promisify(gzip)

export interface Downloads {
  /**
   * Fetches a document. Every connection, also that of a redirect, goes to an address that webhooks may reach.
   * @returns the document, compressed, in base64
   * @throws Refusal document-unreachable, document-too-large, unavailable
   */
  get(url: string): Promise<{ gzip: string; charset?: string }>
  close(): Promise<void>
}

type DownloadOptions = Pick<ConnectOptions, 'allowed'> &
  Partial<Pick<ConnectOptions, 'resolve' | 'ca'>> & { timeoutMs?: number }

export function downloads({ allowed, resolve, ca, timeoutMs = TIMEOUT_MS }: DownloadOptions): Downloads {
  const slots = new Slots(AT_ONCE)
  const agent = new Agent({
    connect: vettedConnector({
      allowed,
      resolve: resolve ?? hostResolver({ timeoutMs: timeoutMs / 2 }),
      timeoutMs,
      responseBytes: MAX_DOCUMENT_BYTES + OVERHEAD_BYTES,
      ...(ca && { ca }),
    }),
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: 1_000,
  })

  const follow = async (url: string, signal: AbortSignal) => {
    let at = located(url)
    for (let redirects = 0; ; redirects++) {
      const headers = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'gantry' }
      const response = await request(at, { dispatcher: agent, method: 'GET', headers, signal })
      const { location } = response.headers
      if (!REDIRECTS.has(response.statusCode) || typeof location !== 'string') return read(response)
      drop(response)
      if (redirects === MAX_REDIRECTS) throw unreachable(`redirected more than ${MAX_REDIRECTS} times`)
      const next = located(location, at)
      if (at.protocol === 'https:' && next.protocol !== 'https:')
        throw unreachable('redirected from https to http')
      at = next
    }
  }

  return {
    async get(url) {
      const slot = await slots.take(undefined, { waitMs: WAIT_MS })
      if (!slot) throw new Refusal('unavailable')
      const signal = AbortSignal.timeout(timeoutMs)
      try {
        return await follow(url, signal)
      } catch (error) {
        if (error instanceof Refusal) throw error
        if (signal.aborted) throw unreachable(`not received within ${timeoutMs} ms`)
        throw unreachable(error instanceof AttemptFailure ? error.message : 'the connection was closed')
      } finally {
        slot.release()
      }
    },
    close: () => agent.destroy(),
  }
}

const unreachable = (detail: string) => new Refusal('document-unreachable', { detail })

/** @throws Refusal document-unreachable for anything but http and https without credentials */
function located(url: string, base?: URL): URL {
  if (!URL.canParse(url, base?.href)) throw unreachable('the URL is malformed')
  const parsed = new URL(url, base)
  if (!/^https?:$/.test(parsed.protocol)) throw unreachable('the URL must be http or https')
  if (parsed.username || parsed.password) throw unreachable('the URL must have no credentials')
  return parsed
}

/** Closes the connection of a response whose body is not read. */
const drop = ({ body }: Dispatcher.ResponseData) => void body.on('error', () => {}).destroy()

async function read(response: Dispatcher.ResponseData) {
  const { statusCode, headers, body } = response
  if (statusCode !== 200) {
    drop(response)
    throw unreachable(`answered ${statusCode}`)
  }
  const parts: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > MAX_DOCUMENT_BYTES) throw documentTooLarge()
    parts.push(chunk)
  }
  const charset = charsetOf(String(headers['content-type'] ?? ''))
  const packed = await compressed(Buffer.concat(parts))
  return { gzip: packed.toString('base64'), ...(charset && { charset }) }
}
