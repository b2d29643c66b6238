import { createRequire } from 'node:module'
import { readSettings } from '@gantry/service-runtime'
import { tracingSettings } from '@gantry/tracing'
import { expect, test } from 'vitest'
import { openTracer } from './tracing.ts'

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1/base/' }
const log = { info() {}, warn() {}, error() {} }
const open = (environment: NodeJS.ProcessEnv) =>
  openTracer('catalog', readSettings(tracingSettings, environment), log)
const isLoaded = () =>
  Object.keys(createRequire(import.meta.url).cache).some(path => path.includes('/@opentelemetry/sdk-trace/'))

test('the SDK is loaded only with the setting of a collector', async () => {
  expect(await open({ OTEL_SERVICE_NAME: 'x' })).toBeUndefined()
  expect(isLoaded()).toBe(false)
  await (await open(ENDPOINT))?.close(0)
  expect(isLoaded()).toBe(true)
})

test.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'grpc://collector:4317' }],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:password@collector:4318' }],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'Bearer token' }],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'a b=c' }],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'a=%zz' }],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'a=b%0d%0ac' }],
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }],
  [{ OTEL_TRACES_SAMPLER: 'jaeger_remote' }],
  [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '1.1' }],
  [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '10%' }],
  [{ OTEL_TRACES_SAMPLER_ARG: '0.1' }],
  [{ OTEL_RESOURCE_ATTRIBUTES: 'production' }],
])('%j is refused with the name of the setting, also without a collector', async environment => {
  const name = Object.keys(environment).at(-1) ?? ''
  await expect(async () => open(environment)).rejects.toThrow(new RegExp(`^${name}: `))
})

test('lists of pairs are decoded', () => {
  const { OTEL_EXPORTER_OTLP_HEADERS, OTEL_RESOURCE_ATTRIBUTES } = readSettings(tracingSettings, {
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc==, x-team = apis',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=prod,service.namespace=gantry,',
  })
  expect(OTEL_EXPORTER_OTLP_HEADERS).toEqual({ authorization: 'Bearer abc==', 'x-team': 'apis' })
  expect(OTEL_RESOURCE_ATTRIBUTES).toEqual({
    'deployment.environment.name': 'prod',
    'service.namespace': 'gantry',
  })
})
