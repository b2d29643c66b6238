export { type TracingSettings, tracingSettings } from './settings.ts'
export type { Span, SpanStart, Tracer } from './spans.ts'
export {
  answered,
  beginContext,
  contextFields,
  currentContext,
  databaseSpan,
  enterContext,
  handlingMessage,
  inContext,
  inOwnContext,
  inSpan,
  isTracing,
  messaging,
  REQUEST_ID,
  requestSpan,
  sendingMessages,
  serverAttributes,
  TraceContext,
  traceIdOf,
  withTracer,
} from './trace-context.ts'
