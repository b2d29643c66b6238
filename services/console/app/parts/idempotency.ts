import { useState } from 'react'
import { randomId } from '../http/random-id.ts'

/**
 * The `Idempotency-Key` of a form: the same content keeps its key until `done`, so that repeating a submission whose
 * response was lost creates nothing twice.
 */
export function useIdempotencyKey() {
  const [keys] = useState(() => {
    let content: string | undefined
    let key = ''
    return {
      for(body: unknown): string {
        const text = JSON.stringify(body)
        if (text !== content) {
          content = text
          key = randomId()
        }
        return key
      },
      done() {
        content = undefined
      },
    }
  })
  return keys
}
