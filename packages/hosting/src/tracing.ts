import { randomUUID } from 'node:crypto'
import type { Log } from '@gantry/event-sourcing'
import { RELEASE, SettingsRefused } from '@gantry/service-runtime'
import type { TracingSettings } from '@gantry/tracing'
import type { OtlpTracer } from '@gantry/tracing/otlp'

/**
 * The tracer of a process; undefined without a collector. Only then the SDK is loaded. The exporter reads further variables
 * itself, e.g. OTEL_EXPORTER_OTLP_TIMEOUT and OTEL_EXPORTER_OTLP_CERTIFICATE.
 * @throws SettingsRefused when a sampler would ignore its argument
 */
export async function openTracer(
  process: string,
  settings: TracingSettings,
  log: Log,
): Promise<OtlpTracer | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SERVICE_NAME: name } = settings
  const { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: ratio } = settings
  if (ratio !== undefined && !sampler.endsWith('traceidratio'))
    throw new SettingsRefused(
      `OTEL_TRACES_SAMPLER_ARG: has no effect with OTEL_TRACES_SAMPLER=${sampler}; use parentbased_traceidratio`,
    )
  if (endpoint === undefined) return undefined
  const { otlpTracer } = await import('@gantry/tracing/otlp')
  return otlpTracer({
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    headers: settings.OTEL_EXPORTER_OTLP_HEADERS,
    protocol: settings.OTEL_EXPORTER_OTLP_PROTOCOL,
    sampler: { name: sampler, ratio: ratio ?? 1 },
    resource: {
      'service.name': `gantry-${process}`,
      'service.version': RELEASE,
      'service.instance.id': randomUUID(),
      ...settings.OTEL_RESOURCE_ATTRIBUTES,
      ...(name !== undefined && { 'service.name': name }),
    },
    report(reason) {
      if (reason === undefined) log.info({}, 'the collector of OTEL_EXPORTER_OTLP_ENDPOINT takes spans again')
      else
        log.warn({ reason }, 'the collector of OTEL_EXPORTER_OTLP_ENDPOINT takes no spans; they are dropped')
    },
  })
}
