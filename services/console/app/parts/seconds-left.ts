import { useEffect, useState } from 'react'

/**
 * Counts down from a number of seconds to 0.
 * @param start a value whose change starts the countdown anew
 */
export function useSecondsLeft(start: unknown, seconds = 0): number {
  const [counted, setCounted] = useState<{ start: unknown; left: number }>()
  useEffect(() => {
    if (seconds <= 0) return
    const end = Date.now() + seconds * 1_000
    const timer = setInterval(() => {
      const left = Math.max(Math.ceil((end - Date.now()) / 1_000), 0)
      setCounted({ start, left })
      if (left === 0) clearInterval(timer)
    }, 500)
    return () => clearInterval(timer)
  }, [start, seconds])
  return counted?.start === start && counted ? counted.left : seconds
}
