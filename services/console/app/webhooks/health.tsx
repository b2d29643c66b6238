import { SimpleGrid } from '@mantine/core'
import { Figure } from '../parts/figure.tsx'
import { Time } from '../parts/time.tsx'
import { rateText } from '../parts/webhook-state.tsx'
import type { Webhook } from './webhook-queries.ts'

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })

/** A duration as text; a dash without an attempt. */
export function latencyText(milliseconds: number | null | undefined): string {
  if (milliseconds == null) return '–'
  if (milliseconds < 1) return '< 1 ms'
  return milliseconds < 10_000
    ? `${whole.format(milliseconds)} ms`
    : `${whole.format(milliseconds / 1_000)} s`
}

/** The figures of the latest attempts. */
export function HealthFigures({ webhook: { health } }: { webhook: Webhook }) {
  const attempts = health?.attempts ?? 0
  return (
    <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm">
      <Figure name="Success rate" value={rateText(health?.successRate)}>
        {attempts === 0
          ? 'No attempts to this URL yet'
          : attempts === 1
            ? 'Of one attempt'
            : `Of the latest ${attempts} attempts`}
      </Figure>
      <Figure name="95th percentile" value={latencyText(health?.p95LatencyMs)}>
        Time of an attempt
      </Figure>
      <Figure
        name="Failing since"
        value={
          health?.failingSince ? <Time at={health.failingSince} /> : attempts === 0 ? '–' : 'Not failing'
        }
      >
        {health?.failingSince
          ? `${health.consecutiveFailures} failed ${health.consecutiveFailures === 1 ? 'attempt' : 'attempts'} in a row`
          : 'Failed attempts since the last success: 0'}
      </Figure>
    </SimpleGrid>
  )
}
