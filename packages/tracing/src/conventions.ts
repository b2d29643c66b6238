import type { Attributes, Span, SpanStart } from './spans.ts'

/**
 * The attributes that OpenTelemetry's semantic conventions define for operations of several parts of the service.
 * Their package is not imported, because it would be loaded in every process.
 */

/** Attributes of an operation on a subject. @param system name of the message server */
export const messaging = (system: string, operation: 'send' | 'process', subject: string): Attributes => ({
  'messaging.system': system,
  'messaging.operation.name': operation,
  'messaging.operation.type': operation,
  'messaging.destination.name': subject,
})

/** The span of an operation on a database. @param collection kind of the records, e.g. category of a stream */
export const databaseSpan = (system: string, operation: string, collection: string): SpanStart => ({
  name: `${operation} ${collection}`,
  kind: 'client',
  attributes: () => ({
    'db.system.name': system,
    'db.operation.name': operation,
    'db.collection.name': collection,
  }),
})

/** The span of an HTTP request that this process sends. @param url whose query is left out */
export const requestSpan = (method: string, url: URL): SpanStart => ({
  name: method,
  kind: 'client',
  attributes: () => ({
    'http.request.method': method,
    'url.full': `${url.origin}${url.pathname}`,
    ...serverAttributes(url),
  }),
})

/** Attributes of the server that a request is sent to. */
export const serverAttributes = ({ protocol, hostname, port }: URL): Attributes => ({
  'server.address': hostname,
  'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
})

/** Records the status of the response to a request that this process sent. */
export function answered(span: Span | undefined, status: number): void {
  span?.set({ 'http.response.status_code': status })
  if (status >= 400) span?.fail(String(status))
}
