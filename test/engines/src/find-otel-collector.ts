import { once } from 'node:events'
import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Engine } from './engine.ts'
import { goProgram } from './go-program.ts'
import { startServer } from './server-process.ts'

const VERSION = '0.139.0'

/** How to get a collector, in one line. */
export const HOW_TO_HAVE_OTEL_COLLECTOR = 'put Go 1.26 on the PATH, for an OpenTelemetry Collector'

/** A span as the collector received it. */
export interface ReceivedSpan {
  traceId: string
  spanId: string
  /** Empty for the first span of a trace. */
  parentSpanId: string
  name: string
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number
  attributes: Record<string, string | number>
  resource: Record<string, string>
  /** The ids of the spans that it links to. */
  links: string[]
}

export interface OtelCollector extends Engine {
  /** The spans received so far. */
  spans(): Promise<ReceivedSpan[]>
}

/**
 * An OpenTelemetry Collector that receives OTLP over HTTP, compiled with Go unless it is cached.
 * @returns a function that starts it on a port, with its data in a folder; undefined without Go
 */
export async function findOtelCollector(): Promise<
  ((port: number, folder: string) => Promise<OtelCollector>) | undefined
> {
  const path = await goProgram({
    name: 'otel-collector',
    version: VERSION,
    sources: join(import.meta.dirname, '..', 'otel-collector'),
    flags: NOT_OPTIMIZED,
  })
  return path === undefined
    ? undefined
    : async (port, folder) => {
        const file = join(folder, 'spans.json')
        const engine = await startServer({
          command: path,
          args: () => [`127.0.0.1:${port}`, file],
          url: () => `http://127.0.0.1:${port}`,
          ready: /Everything is ready/,
        })
        return { ...engine, spans: () => spansIn(file) }
      }
}

/**
 * Starts a stand-in for a collector, because the real one takes two minutes to compile: it keeps the spans that it receives
 * as JSON over HTTP, and checks nothing. `npm run soak` uses the real one.
 * @param port to listen on
 * @param folder of its data
 */
export async function startSpanReceiver(port: number, folder: string): Promise<OtelCollector> {
  const file = join(folder, 'spans.json')
  await writeFile(file, '')
  const server = createServer(async (request, response) => {
    await appendFile(file, `${await text(request)}\n`)
    response.setHeader('content-type', 'application/json').end('{}')
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const stop = async () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${port}`, stop, spans: () => spansIn(file) }
}

/** Compiles the modules in two thirds of the time. The standard library stays as other programs compile it, to share it. */
const NOT_OPTIMIZED = [
  'github.com',
  'go.opentelemetry.io',
  'go.uber.org',
  'golang.org',
  'google.golang.org',
].map(modules => `-gcflags=${modules}/...=-N -l`)

interface Keyed {
  key: string
  value: { stringValue?: string; intValue?: string | number }
}

/** A line of OTLP JSON. */
interface Received {
  resourceSpans: {
    resource: { attributes: Keyed[] }
    scopeSpans: {
      spans: (Omit<ReceivedSpan, 'attributes' | 'links' | 'resource'> & {
        attributes?: Keyed[]
        links?: { spanId: string }[]
      })[]
    }[]
  }[]
}

const attributesOf = (attributes: readonly Keyed[] = []) =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)] as const),
  )

async function spansIn(file: string): Promise<ReceivedSpan[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter(line => line.endsWith('}'))
  return lines.flatMap(line =>
    (JSON.parse(line) as Received).resourceSpans.flatMap(({ resource, scopeSpans }) =>
      scopeSpans.flatMap(({ spans }) =>
        spans.map(span => ({
          ...span,
          parentSpanId: span.parentSpanId ?? '',
          attributes: attributesOf(span.attributes),
          resource: attributesOf(resource.attributes) as Record<string, string>,
          links: (span.links ?? []).map(({ spanId }) => spanId),
        })),
      ),
    ),
  )
}
