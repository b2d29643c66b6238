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

/** Says after some seconds that a request still waits for its response. @param floating at the edge of the window */
export function SlowNotice({ waiting, floating }: { waiting: boolean; floating?: boolean }) {
  const slow = useSlow(waiting)
  return (
    <Text size="sm" role="status" aria-live="polite" {...(slow && floating && FLOATING)}>
      {slow && 'Still waiting for the response: the service is slow.'}
    </Text>
  )
}

/** Above what is at the edge, so that the page does not move. */
const FLOATING = {
  pos: 'fixed',
  bottom: 16,
  left: 16,
  px: 'sm',
  py: 6,
  bg: 'var(--mantine-color-body)',
  style: { zIndex: 300, border: '1px solid var(--mantine-color-default-border)', borderRadius: 4 },
} as const
