/** A wait that is over sooner is not worth a line. */
const LOOK_MS = 1_000

/**
 * Says what a start waits for, after a second and whenever that changes.
 * @param waitingFor undefined while nothing is waited for, or that is said elsewhere
 * @returns ends it
 */
export function announceWaits(
  waitingFor: () => string | undefined,
  say: (waiting: string) => void,
): () => void {
  let said: string | undefined
  const looking = setInterval(() => {
    const waiting = waitingFor()
    if (waiting === undefined || waiting === said) return
    said = waiting
    say(waiting)
  }, LOOK_MS)
  return () => clearInterval(looking)
}
