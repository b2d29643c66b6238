import { pipeline, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { brotliCompress, constants, createGzip, gzip, gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Minimum bytes of a body that is compressed. */
const LEAST_BYTES = 1_024
/** Maximum bytes of the response of a service that is compressed: a longer one is passed on as it arrives. */
const MOST_STREAMED_BYTES = 1_048_576
/** Media types of text. Streams of events end late, so they are not compressed. */
const TEXT = /^(text\/(?!event-stream)|image\/svg|application\/(\S*\+)?(json|xml|yaml)\b)/
/** A longer body is compressed in a thread. For most bodies, another thread costs four times what their compression does. */
const SHORT_BYTES = 65_536
const SHORT = { level: 3, windowBits: 13, memLevel: 6, chunkSize: 2_048 }
const ONCE = { level: 1 }
const OFTEN = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }

/**
 * Compresses the text of responses for clients that accept it (RFC 9110 §12.5.3). Entity tags are the same in every
 * encoding, so that a client may send one back however it got it. A compressed length tells no secret: no other site can
 * make a browser send the credentials.
 */
export function representations(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply, payload) => {
    if (!TEXT.test(String(reply.getHeader('content-type') ?? ''))) return payload
    const vary = [reply.getHeader('vary') ?? []].flat().join(', ')
    if (!/accept-encoding/i.test(vary))
      reply.header('vary', vary ? `${vary}, Accept-Encoding` : 'Accept-Encoding')
    return isWhole(request, reply) ? compressed(reply, payload, acceptedBy(request)) : payload
  })
}

/** Whether a response has all bytes of a body that may be sent in another encoding; not so a document with ranges. */
const isWhole = ({ method }: FastifyRequest, reply: FastifyReply) =>
  method !== 'HEAD' && !reply.hasHeader('content-encoding') && !reply.hasHeader('accept-ranges')

type Encoding = 'br' | 'gzip'

/** The encodings that a request accepts, of those that are made. */
function acceptedBy({ headers }: FastifyRequest): readonly Encoding[] {
  const named = (headers['accept-encoding'] ?? '').toString().toLowerCase().split(',')
  const accepted = named
    .filter(part => !/;\s*q=0(\.0*)?\s*$/.test(part))
    .map(part => part.split(';')[0]?.trim())
  return (['br', 'gzip'] as const).filter(encoding => accepted.includes(encoding))
}

/** Documents of the interface, which are the same buffer for every request. */
const constant = new WeakMap<Buffer, Promise<Buffer>>()

async function compressed(reply: FastifyReply, payload: unknown, accepted: readonly Encoding[]) {
  const gzips = accepted.includes('gzip')
  if (payload instanceof Readable) {
    const bytes = Number(reply.getHeader('content-length'))
    if (!gzips || !(bytes >= LEAST_BYTES && bytes <= MOST_STREAMED_BYTES)) return payload
    encodedAs(reply, 'gzip')
    return pipeline(payload, createGzip(ONCE), () => {})
  }
  if (Buffer.isBuffer(payload) && payload.length >= LEAST_BYTES && accepted.includes('br')) {
    const body = constant.get(payload) ?? promisify(brotliCompress)(payload, OFTEN)
    constant.set(payload, body)
    encodedAs(reply, 'br')
    return body
  }
  if (!gzips || !(typeof payload === 'string' || Buffer.isBuffer(payload)) || payload.length < LEAST_BYTES)
    return payload
  encodedAs(reply, 'gzip')
  return payload.length <= SHORT_BYTES ? gzipSync(payload, SHORT) : promisify(gzip)(payload, ONCE)
}

const encodedAs = (reply: FastifyReply, encoding: Encoding) =>
  reply.header('content-encoding', encoding).removeHeader('content-length')
