import { Alert } from '@mantine/core'

/** Says that the browser has no network. The pages keep what they have read and what was typed. */
export function Offline({ online }: { online: boolean }) {
  if (online) return null
  return (
    <Alert color="yellow" mb="md" role="status" title="You are offline">
      The page shows what it has read before. What you have typed is kept.
    </Alert>
  )
}
