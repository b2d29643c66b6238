import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { scaledTimeout } from '../../bin/timeouts.mjs'
import { ROOT, textOf, yamlOf } from './src/files.ts'
import { PASSWORD, type Processes, startProcesses } from './src/processes.ts'
import { metricsIn, valuesIn } from './src/queries.ts'
import { PROCESSES } from './src/settings.ts'

const { groups } = z
  .object({
    groups: z.array(
      z.strictObject({
        name: z.string(),
        rules: z.array(
          z.union([
            z.strictObject({ record: z.string().regex(/^gantry:\w+:\w+$/), expr: z.string() }),
            z.strictObject({
              alert: z.string().regex(/^Gantry[A-Za-z]+$/),
              expr: z.string(),
              for: z
                .string()
                .regex(/^\d+m$/)
                .optional(),
              labels: z.strictObject({ severity: z.enum(['info', 'warning', 'critical']) }),
              annotations: z.strictObject({ summary: z.string(), runbook_url: z.string() }),
            }),
          ]),
        ),
      }),
    ),
  })
  .parse(yamlOf('deploy/monitoring/alerts.yaml'))
const rules = groups.flatMap(({ rules }) => rules)
const alerts = rules.filter(rule => 'alert' in rule)
const records = rules.filter(rule => 'record' in rule)
const { panels } = z
  .object({
    panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })) })),
  })
  .parse(JSON.parse(textOf('deploy/monitoring/dashboard.json')))

const scalers = z
  .object({
    spec: z.object({ triggers: z.array(z.object({ metadata: z.object({ query: z.string() }) })) }),
  })
  .parse(yamlOf('deploy/kubernetes/keda/notifier.yaml')).spec.triggers

const queries = [
  ...scalers.map(({ metadata: { query } }) => ['the scaler of the notifier', query] as const),
  ...alerts.map(({ alert, expr }) => [alert, expr] as const),
  ...records.map(({ record, expr }) => [record, expr] as const),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
]

let folder: string
let processes: Processes | undefined
/** The names of the metrics of all processes, and the values of each label. */
const told = { names: new Set(records.map(({ record }) => record)), labels: new Map<string, Set<string>>() }

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-monitoring-'))
  processes = await startProcesses(folder)
  await fetch(`${processes.urls.gateway}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password: PASSWORD }),
  })
  for (const name of PROCESSES) {
    const answer = await fetch(`${processes.internalUrls[name]}/metrics`)
    expect([name, answer.status]).toEqual([name, 200])
    expect((await fetch(`${processes.urls[name]}/metrics`)).status).toBe(404)
    const text = await answer.text()
    for (const [, metric = '', type] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
      const parts = type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
      for (const part of parts) told.names.add(metric + part)
    }
    for (const [, label = '', value = ''] of text.matchAll(/(\w+)="([^"]*)"/g))
      told.labels.set(label, (told.labels.get(label) ?? new Set()).add(value))
  }
}, scaledTimeout(60_000))
afterAll(async () => {
  await processes?.stop()
  await rm(folder, { recursive: true, force: true })
})

test.each(queries)('%s uses metrics that the processes export', (_, query) => {
  const metrics = metricsIn(query)
  expect(metrics.length).toBeGreaterThan(0)
  expect(metrics.filter(metric => !told.names.has(metric))).toEqual([])
})

test('queries name existing processes, and GantryAbsent covers all of them', () => {
  expect([...(told.labels.get('process') ?? [])].sort()).toEqual([...PROCESSES].sort())
  const named = queries.flatMap(([, query]) => valuesIn(query, 'process'))
  expect(named.filter(name => ![...PROCESSES, 'standalone'].includes(name))).toEqual([])
  const absent = alerts.find(({ alert }) => alert === 'GantryAbsent')
  const covered = [...(absent?.expr.matchAll(/"process", "(\w+)"/g) ?? [])].map(([, name]) => name)
  expect(covered.sort()).toEqual([...PROCESSES].sort())
})

test('each backing store has a metric by its setting', () => {
  expect([...(told.labels.get('setting') ?? [])].sort()).toEqual([
    'EVENT_STORE_URL',
    'MESSAGING_URL',
    'READ_MODEL_URL',
  ])
})

test('the manual lists every alert, and its runbook has symptom, check and remedy', () => {
  const manual = textOf('docs/operations.md')
  for (const { alert, annotations } of alerts) {
    expect(manual).toContain(`[\`${alert}\`](runbooks/${alert}.md)`)
    expect(annotations.runbook_url).toBe(`https://gantry.example.com/runbooks/${alert}.md`)
    const runbook = textOf(`docs/runbooks/${alert}.md`)
    for (const part of ['**Symptom.**', '**Check.**', '**Remedy.**']) expect(runbook).toContain(part)
  }
  const files = readdirSync(join(ROOT, 'docs/runbooks'))
  expect(files.sort()).toEqual(alerts.map(({ alert }) => `${alert}.md`).sort())
})

test('rules and panels tell installations apart by their namespace', () => {
  for (const { expr } of rules) {
    for (const [, labels] of expr.matchAll(/\bby \(([^)]*)\)/g)) expect(labels).toMatch(/^namespace\b/)
    const aggregated = expr.replace(/\b(sum|max|min|group|count) by /g, '')
    expect(aggregated).not.toMatch(/\b(sum|max|min|group|count)\b/)
  }
  for (const { targets } of panels)
    for (const { expr } of targets)
      expect(expr.match(/namespace=~"\$namespace"/g)?.length).toBe(metricsIn(expr).length)
})

describe('the metrics of a query', () => {
  test.for<[string, string[]]>([
    ['max by (process) (gantry_ready) == 0', ['gantry_ready']],
    ['sum(rate(a_count{x="b",y=~"5.."}[5m])) / sum(rate(c_total[1h])) > 0.01', ['a_count', 'c_total']],
    ['absent(up{process="gateway"}) or absent(down)', ['up', 'down']],
    [
      'topk(10, histogram_quantile(0.95, sum by (le, route) (rate(a_bucket[$__rate_interval]))))',
      ['a_bucket'],
    ],
  ])('are found in %s', ([query, metrics]) => {
    expect(metricsIn(query)).toEqual(metrics)
  })
})
