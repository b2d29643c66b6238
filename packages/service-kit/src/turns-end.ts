/**
 * Waits for the end of the turn of the event loop; all who wait in one turn go on together. Answers that are written
 * one right after the other wake their reader once. With the work for the next answer in between it would fall asleep
 * each time, and waking it costs more than writing does.
 */
export function turnsEnd(): () => Promise<void> {
  let end: Promise<void> | undefined
  return () => {
    end ??= new Promise(resolve =>
      setImmediate(() => {
        end = undefined
        resolve()
      }),
    )
    return end
  }
}
