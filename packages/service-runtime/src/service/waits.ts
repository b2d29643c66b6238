/** Interval of the checks, in milliseconds. Shorter waits may not be reported. */
const POLL_MS = 1_000

/**
 * Reports what a starting process waits for: after a second, and whenever it changes.
 * @param waitingFor returns undefined while the process waits for nothing, or the wait is reported elsewhere
 * @param announce called with what the process waits for
 * @returns a function that ends the reports
 */
export function announceWaits(
  waitingFor: () => string | undefined,
  announce: (waiting: string) => void,
): () => void {
  let announced: string | undefined
  const timer = setInterval(() => {
    const waiting = waitingFor()
    if (waiting === undefined || waiting === announced) return
    announced = waiting
    announce(waiting)
  }, POLL_MS)
  return () => clearInterval(timer)
}
