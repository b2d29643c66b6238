import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT, textOf } from './src/files.ts'
import { alerts, metricsIn, panels, queries, rules, valuesIn } from './src/queries.ts'
import { PROCESSES } from './src/settings.ts'

test('queries name existing processes, and GantryAbsent covers all of them', () => {
  const named = queries.flatMap(([, query]) => valuesIn(query, 'process'))
  expect(named.filter(name => ![...PROCESSES, 'standalone'].includes(name))).toEqual([])
  const absent = alerts.find(({ alert }) => alert === 'GantryAbsent')
  const covered = [...(absent?.expr.matchAll(/"process", "(\w+)"/g) ?? [])].map(([, name]) => name)
  expect(covered.sort()).toEqual([...PROCESSES].sort())
})

test('every alert has a runbook with symptom, check and remedy', () => {
  for (const { alert, annotations } of alerts) {
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

test.for<[string, string[]]>([
  ['max by (process) (gantry_ready) == 0', ['gantry_ready']],
  ['sum(rate(a_count{x="b",y=~"5.."}[5m])) / sum(rate(c_total[1h])) > 0.01', ['a_count', 'c_total']],
  ['absent(up{process="gateway"}) or absent(down)', ['up', 'down']],
  ['topk(10, histogram_quantile(0.95, sum by (le, route) (rate(a_bucket[$__rate_interval]))))', ['a_bucket']],
])('the metrics of a query are found in %s', ([query, metrics]) => {
  expect(metricsIn(query)).toEqual(metrics)
})
