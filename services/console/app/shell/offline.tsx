import { Alert } from '@mantine/core'
import { useNetwork } from '@mantine/hooks'

/** Says that the browser has no network. The pages keep what they have read and what was typed. */
export function Offline() {
  const { online } = useNetwork()
  // The region exists before its content, so that screen readers announce it.
  return (
    <div role="status">
      {!online && (
        <Alert color="yellow" mb="md" title="You are offline" role="presentation">
          The page shows what it has read before and reads it again when the connection is back. What you have
          typed is kept.
        </Alert>
      )}
    </div>
  )
}
