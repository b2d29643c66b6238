import { inTime } from '@gantry/pacing'
import {
  type Link,
  ROOT_CONTEXT,
  type Span as SdkSpan,
  type Tracer as SdkTracer,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { SamplerName } from './settings.ts'
import type { Span, SpanStart, Tracer } from './spans.ts'
import { enterContext } from './trace-context.ts'

export interface OtlpOptions {
  /** URL that spans are posted to. */
  url: string
  /** Headers of its requests, e.g. with a token. */
  headers: Record<string, string>
  protocol: 'http/protobuf' | 'http/json'
  sampler: { name: SamplerName; ratio: number }
  /** Attributes of the process, such as service.name. */
  resource: Record<string, string>
  /** Called when the collector stops to take spans, with the reason, and without one when it takes them again. */
  report(reason: string | undefined): void
}

export interface OtlpTracer {
  tracer: Tracer
  /** Exports the spans that have ended, within the given time in milliseconds. Later spans are dropped. */
  close(ms: number): Promise<void>
}

/** How long a span waits for others before they are exported together, in milliseconds. */
const DELAY_MS = 1_000

/** Maximum characters of the value of an attribute, e.g. of a path. */
const MAX_LENGTH = 1_024

const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const

/**
 * A tracer on the SDK of OpenTelemetry, which exports spans over OTLP. At most 2,048 spans wait for the collector; more are
 * dropped.
 */
export function otlpTracer({ url, headers, protocol, sampler, resource, report }: OtlpOptions): OtlpTracer {
  const Exporter = protocol === 'http/json' ? JsonExporter : ProtobufExporter
  const { exporter, failing } = reporting(new Exporter({ url, headers }), report)
  const provider = new TracerProvider({
    sampler: samplerOf(sampler),
    resource: defaultResource().merge(resourceFromAttributes(resource)),
    spanLimits: { attributeValueLengthLimit: MAX_LENGTH },
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: DELAY_MS })],
  })
  return {
    tracer: tracerOf(provider.getTracer('gantry')),
    async close(ms) {
      if (failing()) return
      const shutdown = provider.shutdown().catch(() => {})
      await inTime(shutdown, ms)
    },
  }
}

/** The exporter, with a report when it begins to fail and when it succeeds again. */
function reporting(exporter: SpanExporter, report: OtlpOptions['report']) {
  let failing = false
  const watched: SpanExporter = {
    export(spans, done) {
      exporter.export(spans, result => {
        const failed = result.code !== 0
        const reason = failed ? (result.error?.message ?? 'unknown') : undefined
        // Spans are exported in the context of whatever work ended one of them.
        if (failed !== failing) enterContext(undefined, () => report(reason))
        failing = failed
        done(result)
      })
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  }
  return { exporter: watched, failing: () => failing }
}

function samplerOf({ name, ratio }: OtlpOptions['sampler']): Sampler {
  const roots = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
  }
  const own = roots[name.replace('parentbased_', '') as keyof typeof roots]()
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root: own }) : own
}

const tracerOf = (sdk: SdkTracer): Tracer => ({
  start(start, parent) {
    const remote = parent === undefined ? undefined : spanContextOf(parent)
    const started = startSpan(sdk, start, remote)
    if (started.isRecording()) {
      const span = new RecordedSpan(sdk, started)
      return { traceparent: span.traceparent, span }
    }
    return { traceparent: parent ?? traceparentOf(started.spanContext()), span: undefined }
  },
})

class RecordedSpan implements Span {
  readonly traceparent: string
  readonly #sdk: SdkTracer
  readonly #span: SdkSpan

  constructor(sdk: SdkTracer, span: SdkSpan) {
    this.#sdk = sdk
    this.#span = span
    this.traceparent = traceparentOf(span.spanContext())
  }

  set(attributes: Record<string, string | number>): void {
    this.#span.setAttributes(attributes)
  }

  fail(type: string): void {
    this.#span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', type)
  }

  end(): void {
    this.#span.end()
  }

  child(start: SpanStart): Span {
    return new RecordedSpan(this.#sdk, startSpan(this.#sdk, start, this.#span.spanContext()))
  }
}

function startSpan(
  sdk: SdkTracer,
  { name, kind = 'internal', attributes, linked }: SpanStart,
  parent: SpanContext | undefined,
): SdkSpan {
  const context = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT
  const links: Link[] = parent && linked ? [{ context: parent }] : []
  const span = sdk.startSpan(name, { kind: KINDS[kind], links }, context)
  if (attributes && span.isRecording()) span.setAttributes(attributes())
  return span
}

const spanContextOf = (traceparent: string): SpanContext => ({
  traceId: traceparent.slice(3, 35),
  spanId: traceparent.slice(36, 52),
  traceFlags: Number.parseInt(traceparent.slice(53), 16),
  isRemote: true,
})

const traceparentOf = ({ traceId, spanId, traceFlags }: SpanContext) =>
  `00-${traceId}-${spanId}-${(traceFlags & 1) === 1 ? '01' : '00'}`
