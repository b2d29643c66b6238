import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Countdown } from './deliveries/countdown.tsx'
import { lastAttemptedQuery, type Pause } from './deliveries/delivery-queries.ts'
import { lastFault } from './deliveries/faults.ts'

interface PauseTextProps {
  /** Id of the webhook. */
  webhook: string
  pause: Pause
  /** Whether the page says elsewhere why the last attempt failed. */
  known?: boolean
}

/** Why and until when the attempts to a webhook are paused, and what happens then. */
export function PauseText({ webhook, pause: { until, failures }, known }: PauseTextProps) {
  return (
    <Stack gap="xs">
      <Text size="sm">
        The last {failures} attempts to the webhook have failed. One delivery is tried{' '}
        <Countdown to={until} past="now, as the pause has ended" />. If it succeeds, those that wait follow,
        and retries at their planned times. If it fails, the attempts are paused again.
      </Text>
      {!known && <LastFailure webhook={webhook} />}
    </Stack>
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
