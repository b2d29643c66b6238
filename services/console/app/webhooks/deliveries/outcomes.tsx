import { Alert } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { type Delivery, deliveryQuery } from './delivery-queries.ts'

const POLL_MS = 1_500

/**
 * What has become of a retry.
 * @param started the delivery when the retry was requested
 * @param now the delivery as it was read last
 */
export function outcomeOf(started: Delivery, now: Delivery | undefined): 'delivered' | 'failed' | 'open' {
  if (now?.status === 'SUCCESS') return 'delivered'
  const ended = now?.attemptLog.some(
    ({ number, durationMs, error }) => number > started.attempts && (durationMs !== null || error !== null),
  )
  return ended || now?.status === 'CANCELLED' ? 'failed' : 'open'
}

/** The outcomes of retries. Each delivery is read again until its retry has ended. */
function useOutcomes(started: readonly Delivery[]) {
  return useQueries({
    queries: started.map(delivery => ({
      ...deliveryQuery(delivery.webhook, delivery.id, delivery.eventId),
      refetchInterval: ({ state }: { state: { data: Delivery | undefined } }) =>
        outcomeOf(delivery, state.data) === 'open' ? POLL_MS : (false as const),
    })),
    combine: read => started.map((delivery, index) => outcomeOf(delivery, read[index]?.data)),
  })
}

interface OutcomesProps {
  started: readonly Delivery[]
  onClose: () => void
}

/** What has become of the retries so far, e.g. `25 retries started: 3 delivered, 20 failed, 2 under way.` */
export function Outcomes({ started, onClose }: OutcomesProps) {
  const outcomes = useOutcomes(started)
  const count = (wanted: ReturnType<typeof outcomeOf>) => outcomes.filter(each => each === wanted).length
  const [delivered, failed, open] = [count('delivered'), count('failed'), count('open')]
  return (
    <Alert
      color={open > 0 ? 'blue' : failed > 0 ? 'orange' : 'teal'}
      withCloseButton
      closeButtonLabel="Dismiss"
      onClose={onClose}
    >
      <span role="status">
        {started.length} {started.length === 1 ? 'retry' : 'retries'} started: {delivered} delivered, {failed}{' '}
        failed{open > 0 && `, ${open} under way`}.
      </span>
      {open === 0 && failed > 0 && ' The last results say why.'}
    </Alert>
  )
}
