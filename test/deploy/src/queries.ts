import { z } from 'zod'
import { textOf, yamlOf } from './files.ts'

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
export const rules = groups.flatMap(({ rules }) => rules)
export const alerts = rules.filter(rule => 'alert' in rule)
export const records = rules.filter(rule => 'record' in rule)
export const { panels } = z
  .object({
    panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })) })),
  })
  .parse(JSON.parse(textOf('deploy/monitoring/dashboard.json')))

const scalers = z
  .object({
    spec: z.object({ triggers: z.array(z.object({ metadata: z.object({ query: z.string() }) })) }),
  })
  .parse(yamlOf('deploy/kubernetes/keda/notifier.yaml')).spec.triggers

/** The queries of the alert rules, the dashboard and the scaler, each with the name of what uses it. */
export const queries = [
  ...scalers.map(({ metadata: { query } }) => ['the scaler of the notifier', query] as const),
  ...alerts.map(({ alert, expr }) => [alert, expr] as const),
  ...records.map(({ record, expr }) => [record, expr] as const),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
]

/** Keywords of PromQL that can be mistaken for metrics, because no parenthesis follows them. */
const WORDS = new Set(['and', 'or', 'unless', 'bool', 'offset'])

/** The names of the metrics in a query. */
export function metricsIn(query: string): string[] {
  const bare = query
    .replace(/"[^"]*"/g, '')
    .replace(/\{[^}]*\}/g, '')
    .replace(/\[[^\]]*\]/g, '')
    .replace(/\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, '')
  return [...bare.matchAll(/[a-zA-Z_:][\w:]*(?!\w*\s*\()/g)]
    .map(([name]) => name)
    .filter(name => !WORDS.has(name))
}

/** The values that a query compares a label with, by = or !=. */
export const valuesIn = (query: string, label: string) =>
  [...query.matchAll(new RegExp(`\\b${label}!?="([^"]*)"`, 'g'))].map(([, value = '']) => value)
