/**
 * Lets the first response of a turn of the event loop continue at once, and all later ones together at the end of the turn.
 * Responses that are written directly after one another wake the receiving process once. With the work for the next
 * response in between, it would be woken for each, which costs more than writing.
 * @returns a function that returns undefined to the first caller in a turn, and a promise for its end to the others
 */
export function coalesceResponses(): () => Promise<void> | undefined {
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
