import { Text } from '@mantine/core'
import { useEffect, useState } from 'react'

const SLOW_MS = 4_000

/** Whether something has been waited for longer than some seconds. */
export function useSlow(waiting: boolean): boolean {
  const [slow, setSlow] = useState(false)
  useEffect(() => {
    if (!waiting) return
    const timer = setTimeout(() => setSlow(true), SLOW_MS)
    return () => {
      clearTimeout(timer)
      setSlow(false)
    }
  }, [waiting])
  return waiting && slow
}

/** Says after some seconds that a request still waits for its response. */
export function SlowNotice({ waiting }: { waiting: boolean }) {
  const slow = useSlow(waiting)
  return (
    <Text size="sm" role="status" aria-live="polite">
      {slow && 'Still waiting for the response: the service is slow. What you have typed is kept.'}
    </Text>
  )
}
