/** The role of a span in its trace, as OpenTelemetry defines it. */
type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer'

/** Attributes of a span, by their names in OpenTelemetry's semantic conventions. No secrets, queries or bodies. */
export type Attributes = Record<string, string | number>

export interface SpanStart {
  name: string
  /** Default: internal. */
  kind?: SpanKind
  /** Called only if the span is recorded. */
  attributes?(): Attributes
  /** Whether the span also links to its parent, as the span of a received message does. */
  linked?: boolean
}

/** A piece of work in a trace, which is recorded. */
export interface Span {
  /** The context for what the work causes (W3C Trace Context §3.2). */
  readonly traceparent: string
  set(attributes: Attributes): void
  /** Marks the work as failed. @param type error code, or name of the error class; never a message */
  fail(type: string): void
  end(): void
  child(start: SpanStart): Span
}

/** Records spans of a process. */
export interface Tracer {
  /**
   * Starts the first span of work in this process.
   * @param parent traceparent of another process or of an earlier time; undefined for a new trace
   * @returns the traceparent of the work, and its span unless the sampler leaves the trace out
   */
  start(start: SpanStart, parent: string | undefined): { traceparent: string; span: Span | undefined }
}

/** The error code of a refusal or of a system error, otherwise the name of the error class. */
export function errorType(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
