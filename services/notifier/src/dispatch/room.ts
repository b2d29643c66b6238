import type { Lane } from '../delivery/lane.ts'

export interface RoomSize {
  /** Attempts under way at once. */
  overall: number
  /** Attempts under way at once to one webhook. */
  perWebhook: number
}

/** Bounds the attempts that are under way. A quarter of each bound is kept free of retries. */
export interface Room {
  /** @returns how to give the place back; undefined when there is none */
  take(lane: Lane): (() => void) | undefined
  readonly taken: number
}

export const ROOM: RoomSize = { overall: 256, perWebhook: 16 }
const SHARE_OF_RETRIES = 0.75

class Places {
  #all = 0
  #retries = 0
  readonly #size: number

  constructor(size: number) {
    this.#size = size
  }
  get taken() {
    return this.#all
  }
  has(retry: boolean) {
    return this.#all < this.#size && (!retry || this.#retries < this.#size * SHARE_OF_RETRIES)
  }
  add(retry: boolean, count: 1 | -1) {
    this.#all += count
    if (retry) this.#retries += count
  }
}

export function room({ overall, perWebhook }: RoomSize = ROOM): Room {
  const all = new Places(overall)
  const ofWebhooks = new Map<string, Places>()
  return {
    get taken() {
      return all.taken
    },
    take({ webhook, kind }) {
      const retry = kind === 'retry'
      const own = ofWebhooks.get(webhook) ?? new Places(perWebhook)
      if (!all.has(retry) || !own.has(retry)) return undefined
      all.add(retry, 1)
      own.add(retry, 1)
      ofWebhooks.set(webhook, own)
      let given = true
      return () => {
        if (!given) return
        given = false
        all.add(retry, -1)
        own.add(retry, -1)
        if (own.taken === 0) ofWebhooks.delete(webhook)
      }
    },
  }
}
