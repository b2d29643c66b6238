import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findPromtool, HOW_TO_HAVE_PROMTOOL } from '@gantry/engines'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ROOT, yamlOf } from './src/files.ts'

const promtool = await findPromtool()
if (!promtool && process.env.CI) throw new Error(`CI needs promtool: ${HOW_TO_HAVE_PROMTOOL}`)
const skipped = `there is no promtool: ${HOW_TO_HAVE_PROMTOOL}`

/** Runs the cases of a file. */
async function run(cases: string): Promise<string> {
  const failure = (error: { stdout: string; stderr: string }) => error
  const { stdout, stderr } = await promisify(execFile)(promtool ?? '', ['test', 'rules', cases]).catch(
    failure,
  )
  return stderr + stdout
}

describe.skipIf(!promtool)('promtool', { meta: { skipped } }, () => {
  test('the alerts fire and stay silent as the cases of alerts.test.yaml say', async () => {
    expect(await run(join(ROOT, 'test/deploy/alerts.test.yaml'))).toContain('SUCCESS')
  })

  test('the scaler of the notifier reads the metrics of its namespace alone', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gantry-scaler-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const { spec } = yamlOf('deploy/kubernetes/keda/notifier.yaml') as {
      spec: { triggers: { metadata: { query: string } }[] }
    }
    const queriesIn = (namespace: string) =>
      spec.triggers.map(({ metadata }) =>
        metadata.query.replaceAll('namespace="gantry"', `namespace="${namespace}"`),
      )
    const series = (name: string, labels: string, value: number) => ({
      series: `${name}{${labels}}`,
      values: `${value}x5`,
    })
    const replica = (namespace: string, instance: number, [underWay, overdue, lag]: readonly number[]) => {
      const labels = `namespace="${namespace}",instance="${instance}"`
      return [
        series('gantry_webhook_attempts_under_way', labels, underWay ?? 0),
        series('gantry_webhook_overdue_seconds', labels, overdue ?? 0),
        series('gantry_consumer_lag_seconds', `${labels},consumer="notifier"`, lag ?? 0),
        series('gantry_consumer_lag_seconds', `${labels},consumer="media"`, 500),
      ]
    }
    const tests = [
      {
        interval: '1m',
        input_series: [
          ...replica('management', 1, [200, 90, 45]),
          ...replica('management', 2, [180, 90, 0]),
          // Deliveries are overdue while most attempts are free: more replicas would not help.
          ...replica('gantry', 1, [5, 700, 600]),
        ],
        promql_expr_test: [
          ...queriesIn('management').map((expr, at) => [expr, [380, 90, 45][at]]),
          ...queriesIn('gantry').map((expr, at) => [expr, [5, 0, 0][at]]),
        ].map(([expr, value]) => ({ expr, eval_time: '3m', exp_samples: [{ labels: '{}', value }] })),
      },
    ]
    const cases = join(folder, 'cases.yaml')
    await writeFile(cases, JSON.stringify({ evaluation_interval: '1m', tests }))
    expect(await run(cases)).toContain('SUCCESS')
  })
})
