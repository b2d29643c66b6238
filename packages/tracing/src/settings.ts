import { z } from 'zod'

/** The samplers of OpenTelemetry's OTEL_TRACES_SAMPLER. */
const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const
export type SamplerName = (typeof SAMPLERS)[number]

/** A value of these settings: names and values, percent-encoded, as `name=value,name=value` (W3C Baggage). */
const pairs = z.string().transform((text, context) => {
  const pairs: Record<string, string> = {}
  for (const pair of text.split(',').filter(part => part.trim() !== '')) {
    const [, name, value] = /^\s*([!-+\--<>-~]+?)\s*=\s*([^\s,]*)\s*$/.exec(pair) ?? []
    try {
      if (name === undefined || value === undefined) throw new URIError()
      pairs[name] = decodeURIComponent(value)
    } catch {
      context.addIssue({
        code: 'custom',
        message: 'must be such as name=value,other=value, with percent-encoded values',
      })
      return z.NEVER
    }
  }
  return pairs
})

const isCollector = (text: string): boolean => {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && !/[?#@\s]/.test(text)
}

const isHeader = ([name, value]: [string, string]) => /^[\w-]+$/.test(name) && /^[\t\x20-\x7e]*$/.test(value)

/** The settings of tracing: variables of OpenTelemetry's specification. */
export const tracingSettings = z.object({
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .string()
    .refine(isCollector, { error: 'must be a URL without credentials, such as http://collector:4318' })
    .optional()
    .describe(
      'URL of a collector for [traces](#traces), such as `http://collector:4318`. Without it, nothing is recorded.',
    ),
  OTEL_EXPORTER_OTLP_HEADERS: pairs
    .refine(headers => Object.entries(headers).every(isHeader), {
      error: 'must have names and values of HTTP headers',
    })
    .default({})
    .meta({
      description: 'Headers of the requests to it, e.g. `authorization=Bearer%20TOKEN`: a secret.',
      secret: true,
    }),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .enum(['http/protobuf', 'http/json'])
    .default('http/protobuf')
    .describe('Or `http/json`. gRPC is not supported.'),
  OTEL_TRACES_SAMPLER: z
    .enum(SAMPLERS)
    .default('parentbased_always_on')
    .describe(
      'Which traces are recorded: `always_on`, `always_off`, `traceidratio`, or one of them with `parentbased_`.',
    ),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0|1|1\.0+|0?\.\d+)$/, { error: 'must be a number from 0 to 1' })
    .transform(Number)
    .optional()
    .describe('The share of traces that the samplers with `traceidratio` take, from 0 to 1.'),
  OTEL_SERVICE_NAME: z.string().max(200).optional().meta({
    description: 'The attribute `service.name` of a process.',
    shown: '`gantry-catalog`, `gantry-gateway`, …',
  }),
  OTEL_RESOURCE_ATTRIBUTES: pairs
    .default({})
    .describe('Further attributes of a process, e.g. `deployment.environment.name=production`.'),
})
export type TracingSettings = z.infer<typeof tracingSettings>
