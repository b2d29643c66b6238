import { asProblem } from '../http/problem.ts'

/**
 * Sends a request again while the service has too many requests, or too many documents to check, after the time that it
 * names. Such a request has changed nothing.
 * @throws the reason of the signal after an abort
 */
export async function whenAdmitted<Result>(
  send: () => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  for (;;) {
    signal.throwIfAborted()
    try {
      return await send()
    } catch (error) {
      const { status, code, retryAfterSeconds = 1 } = asProblem(error)
      if (status !== 429 && code !== 'too-many-checks') throw error
      await pause(retryAfterSeconds * 1_000, signal)
    }
  }
}

export const pause = (milliseconds: number, signal: AbortSignal) =>
  new Promise<void>(resolve => {
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
