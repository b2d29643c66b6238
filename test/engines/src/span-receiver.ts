import { once } from 'node:events'
import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

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

/**
 * Starts a stand-in for an OpenTelemetry Collector: it keeps the spans that it receives as JSON over HTTP.
 * @param port to listen on
 * @param folder of its data
 */
export async function startSpanReceiver(port: number, folder: string) {
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
  return { stop, spans: () => spansIn(file) }
}

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
