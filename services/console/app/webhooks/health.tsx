import { SimpleGrid } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Figure } from '../parts/figure.tsx'
import { AnchorLink } from '../parts/links.tsx'
import { Time } from '../parts/time.tsx'
import { rateText } from '../parts/webhook-state.tsx'
import { waitingQuery } from './deliveries/delivery-queries.ts'
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

/** The figures of the latest attempts, and what waits. */
export function HealthFigures({ webhook }: { webhook: Webhook }) {
  const { health } = webhook
  const attempts = health?.attempts ?? 0
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
      <Figure name="Success rate" value={rateText(health?.successRate)}>
        {attempts === 0
          ? 'No attempts to this URL yet'
          : attempts === 1
            ? 'Of one attempt'
            : `Of the latest ${attempts} attempts`}
      </Figure>
      <Figure name="Time of an attempt" value={latencyText(health?.p95LatencyMs)}>
        95% took at most this long
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
      <WaitingFigure webhook={webhook} />
    </SimpleGrid>
  )
}

/** The deliveries that wait for an attempt. */
function WaitingFigure({ webhook: { id, active } }: { webhook: Webhook }) {
  const { data } = useQuery(waitingQuery(id))
  const { count = 0, oldest } = data ?? {}
  return (
    <Figure
      name="Still to deliver"
      value={
        data === undefined ? (
          '–'
        ) : count === 0 ? (
          'Nothing waits'
        ) : (
          <AnchorLink
            to="/webhooks/$webhookId"
            params={{ webhookId: id }}
            search={{ tab: 'deliveries', sort: 'createdAt,asc' }}
            inherit
          >
            {count.toLocaleString('en')} {count === 1 ? 'delivery' : 'deliveries'}
          </AnchorLink>
        )
      }
    >
      {oldest ? (
        <>
          The oldest since <Time at={oldest.createdAt} />
          {active ? '' : ', until the webhook is active'}
        </>
      ) : (
        'No delivery waits for an attempt'
      )}
    </Figure>
  )
}
