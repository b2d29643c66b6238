/**
 * Lets the first of a turn of the event loop go on at once, and all others together at its end. Answers that are written
 * one right after the other wake their reader once. With the work for the next answer in between it would fall asleep
 * each time, and waking it costs more than writing does.
 * @returns waits, or does not
 */
export function turnsEnd(): () => Promise<void> | undefined {
  let end: Promise<void> | undefined
  return () => {
    if (end) return end
    end = new Promise(resolve =>
      setImmediate(() => {
        end = undefined
        resolve()
      }),
    )
    return undefined
  }
}
