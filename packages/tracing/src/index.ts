export { answered, databaseSpan, messaging, requestSpan, serverAttributes } from './conventions.ts'
export { type TracingSettings, tracingSettings } from './settings.ts'
export { type Attributes, errorType, type Span, type SpanStart, type Tracer } from './spans.ts'
export {
  beginContext,
  contextFields,
  contextOf,
  currentContext,
  enterContext,
  handlingMessage,
  inContext,
  inContextOfMessage,
  inOwnContext,
  inSpan,
  isTracing,
  REQUEST_ID,
  sendingMessages,
  TraceContext,
  traceIdOf,
  withTracer,
} from './trace-context.ts'
