import { RELEASE } from '@gantry/service-runtime'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { processMetrics } from './metrics.ts'

test('counts errors by the worker that failed, and no records of lower levels', async () => {
  const registry = new Registry()
  const { logged } = processMetrics('catalog', registry)
  logged(pino.levels.values.error ?? 0, { worker: 'catalog.relay', err: new Error('too large') })
  logged(pino.levels.values.fatal ?? 0, 'a message alone')
  logged(pino.levels.values.warn ?? 0, { worker: 'catalog.relay' })
  expect(await registry.getSingleMetricAsString('gantry_log_errors_total')).toMatch(
    /gantry_log_errors_total\{worker="",process="catalog"\} 1\ngantry_log_errors_total\{worker="catalog.relay",process="catalog"\} 1$/,
  )
})

test('shows the release, and the time that the event loop was busy', async () => {
  const registry = new Registry()
  processMetrics('catalog', registry)
  const built = await registry.getSingleMetricAsString('gantry_build_info')
  expect(RELEASE).toMatch(/^\d+\.\d+\.\d+/)
  expect(built).toMatch(/,node="24\..*",process="catalog"\} 1$/)
  expect(built).toContain(`{version="${RELEASE}",`)
  const active = async () =>
    (await registry.getSingleMetric('gantry_event_loop_active_seconds_total')?.get())?.values[0]?.value ?? 0
  const before = await active()
  expect(await active()).toBeGreaterThanOrEqual(before)
})

test('shows for each backing store whether it can be used', async () => {
  const registry = new Registry()
  const up = new Map([
    ['READ_MODEL_URL', true],
    ['MESSAGING_URL', false],
  ])
  const backingStores = {
    usable: Promise.resolve(),
    trouble: () => undefined,
    up: () => up,
    states: () => [],
    stop() {},
  }
  processMetrics('catalog', registry).watches(backingStores)
  expect(await registry.getSingleMetricAsString('gantry_engine_up')).toMatch(
    /\{setting="READ_MODEL_URL",process="catalog"\} 1\n.*\{setting="MESSAGING_URL",process="catalog"\} 0$/,
  )
})
