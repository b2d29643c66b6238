import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { secondOf } from '../parts/local-time.ts'
import { Countdown } from './deliveries/countdown.tsx'
import { lastAttemptedQuery, type Pause } from './deliveries/delivery-queries.ts'
import { lastFault } from './deliveries/faults.ts'

interface PauseTextProps {
  /** Id of the webhook. */
  webhook: string
  pause: Pause
  /** What waits for an attempt, where the page knows it. */
  waiting?: { count: number; nextAt?: string | null | undefined } | undefined
  /** Whether the page says elsewhere why the last attempt failed. */
  known?: boolean
}

/** Why and until when the attempts to a webhook are paused, and what happens then. */
export function PauseText({ webhook, pause: { until, failures }, waiting, known }: PauseTextProps) {
  return (
    <Stack gap="xs">
      <Text size="sm">
        The last {failures} attempts to the webhook have failed. <NextTry until={until} waiting={waiting} />
      </Text>
      {!known && <LastFailure webhook={webhook} />}
    </Stack>
  )
}

/** What is tried first. A retry that is planned for a later time does not wait for the pause. */
function NextTry({ until, waiting }: { until: string } & Pick<PauseTextProps, 'waiting'>) {
  if (waiting?.count === 0)
    return (
      <>
        No delivery is due. The next event is tried as soon as it happens, but not before the pause ends (
        <Countdown to={until} past="it has ended" />
        ).
      </>
    )
  const nextAt = waiting?.nextAt
  if (nextAt && Date.parse(nextAt) > Math.max(Date.now(), Date.parse(until)))
    return (
      <>
        The next attempt is at {secondOf(nextAt)} (<Countdown to={nextAt} />
        ); no delivery is due before. If it fails, the attempts are paused again.
      </>
    )
  return (
    <>
      One delivery is tried <Countdown to={until} past="now, as the pause has ended" />. If it succeeds, those
      that wait follow, and retries at their planned times. If it fails, the attempts are paused again.
    </>
  )
}

/** Why the latest attempt to a webhook failed. */
export function LastFailure({ webhook }: { webhook: string }) {
  const { data } = useQuery(lastAttemptedQuery(webhook))
  const fault = data && lastFault(data)
  if (!fault) return null
  return (
    <Text size="sm">
      <b>The last failure: {fault.said}</b> {fault.advice}
    </Text>
  )
}
