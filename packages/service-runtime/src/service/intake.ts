import type { Admit } from './service.ts'

/** Number of deliveries that are behind from which on writes wait. */
const MOST_BEHIND = 32
const POLL_MS = 2
/** Maximum time that a write waits. */
const LONGEST_MS = 1_000

interface Waiting {
  since: number
  proceed(): void
}

/** Lets writes wait, in the order of their arrival, while the deliveries of earlier ones are behind. */
export class Intake {
  readonly #behind: () => number
  #waiting: Waiting[] = []
  #timer: NodeJS.Timeout | undefined

  /** @param behind number of deliveries that are behind */
  constructor(behind: () => number) {
    this.#behind = behind
  }

  /** Admits a write when it has room, and a read at once. */
  admitting(admit: Admit): Admit {
    return (request, reply, operation) => {
      const admitted = admit(request, reply, operation)
      if (operation.method === 'GET' || this.hasRoom()) return admitted
      return Promise.resolve(admitted).then(async principal => {
        await this.room()
        return principal
      })
    }
  }

  hasRoom(): boolean {
    return this.#waiting.length === 0 && this.#behind() < MOST_BEHIND
  }

  /** Resolves when fewer deliveries are behind, or after a second. */
  async room(): Promise<void> {
    if (this.hasRoom()) return
    await new Promise<void>(proceed => {
      this.#waiting.push({ since: performance.now(), proceed })
      this.#timer ??= setInterval(() => this.#proceed(), POLL_MS)
    })
  }

  #proceed() {
    const time = performance.now()
    const free = Math.max(MOST_BEHIND - this.#behind(), 0)
    const stays = this.#waiting.findIndex(({ since }, n) => n >= free && time - since < LONGEST_MS)
    for (const { proceed } of this.#waiting.splice(0, stays < 0 ? this.#waiting.length : stays)) proceed()
    if (this.#waiting.length > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
