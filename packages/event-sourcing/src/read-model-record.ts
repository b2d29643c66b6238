import { defineCollection, type ReadModels } from '@gantry/read-models'
import type { Position } from './event.ts'

/** The build of a generation. Timestamps are ISO 8601. */
export interface Build {
  generation: number
  startedAt: string
  /** Number of events that were projected since the last start of a holder of the lease. */
  events: number
  /** Position up to which the log is projected. */
  position: Position
  eventsPerSecond: number
  /** When the holder of the lease last reported progress. */
  updatedAt: string
}

/** The last build that ended. */
export interface EndedBuild extends Pick<Build, 'generation' | 'startedAt'> {
  outcome: 'COMPLETED' | 'CANCELLED' | 'FAILED'
  /** Why it failed. */
  reason: string | null
  endedAt: string
}

/** What the holder of a projector's lease reports about it, for operators. Nothing is decided on it. */
export interface ReadModelRecord {
  /** Name of the projector. */
  id: string
  /** Name of its checkpoint. */
  checkpoint: string
  /** Collections with their versions, e.g. `catalog.apis@3`. */
  collections: readonly string[]
  generation: number
  /** The build under way; null when there is none. */
  build: Build | null
  lastBuild: EndedBuild | null
  /** Why the projector failed last, and when; null once it has recovered. */
  error: { message: string; at: string } | null
}

const readModelRecords = defineCollection<ReadModelRecord>({
  name: 'readmodels.records',
  version: 1,
  fields: {},
})

/** The records of all projectors that were ever started, in the order of their names. */
export async function listReadModels(readModels: ReadModels): Promise<ReadModelRecord[]> {
  const found = await readModels.collection(readModelRecords).list({ limit: 1_000 })
  return found.map(({ doc }) => doc)
}

/** Changes the record of a projector. The last change wins: only the holder of the lease makes one. */
export class ReadModelReport {
  readonly #readModels: ReadModels
  readonly #name: string
  #record: ReadModelRecord | undefined

  constructor(readModels: ReadModels, name: string) {
    this.#readModels = readModels
    this.#name = name
  }

  get record(): ReadModelRecord | undefined {
    return this.#record
  }

  /** Begins with what the previous holder has reported. */
  async begin(now: Pick<ReadModelRecord, 'checkpoint' | 'collections' | 'generation'>): Promise<void> {
    const stored = await this.#readModels.collection(readModelRecords).get(this.#name)
    const { build = null, lastBuild = null } = stored?.doc ?? {}
    this.#record = { id: this.#name, ...now, build, lastBuild, error: null }
    await this.change({})
  }

  async change(changes: Partial<ReadModelRecord>): Promise<void> {
    if (!this.#record) return
    this.#record = { ...this.#record, ...changes }
    const write = {
      collection: readModelRecords,
      id: this.#name,
      doc: this.#record,
      revision: 0,
      force: true,
    }
    await this.#readModels.write([write])
  }
}
