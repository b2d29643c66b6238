import { defineCollection, type ReadModels } from '@gantry/stores'
import type { Position } from '../log/event.ts'

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
  /** Name of the projector together with the shape of its collections. */
  id: string
  /** Name of the projector. */
  name: string
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

const shapeOf = (projector: string) => `${projector}.shape`

/** The key of the projector of this name that last took over its read models; projectors of two shapes run in an upgrade. */
export const lastKeyOf = (projector: string, { checkpoints }: ReadModels): Promise<string | undefined> =>
  checkpoints.get(shapeOf(projector))

/** The records of all projectors that were ever started, in the order of their names; of two shapes, that of the last. */
export async function listReadModels(readModels: ReadModels): Promise<ReadModelRecord[]> {
  const found = await readModels.collection(readModelRecords).list({ limit: 1_000 })
  const records = await Promise.all(
    found.map(async ({ doc }) => ((await lastKeyOf(doc.name, readModels)) === doc.id ? [doc] : [])),
  )
  return records.flat()
}

/** Changes the record of a projector. The last change wins: only the holder of the lease makes one. */
export class ReadModelReport {
  readonly #readModels: ReadModels
  readonly #name: string
  readonly #key: string
  #record: ReadModelRecord | undefined

  /** @param options.key the name of the projector together with the shape of its collections */
  constructor({ readModels, name, key }: { readModels: ReadModels; name: string; key: string }) {
    this.#readModels = readModels
    this.#name = name
    this.#key = key
  }

  get record(): ReadModelRecord | undefined {
    return this.#record
  }

  /** Begins with what the previous holder has reported. From now on this record is the one that is listed. */
  async begin(now: Pick<ReadModelRecord, 'checkpoint' | 'collections' | 'generation'>): Promise<void> {
    const stored = await this.#readModels.collection(readModelRecords).get(this.#key)
    const { build = null, lastBuild = null } = stored?.doc ?? {}
    this.#record = { id: this.#key, name: this.#name, ...now, build, lastBuild, error: null }
    await this.change({})
    if ((await lastKeyOf(this.#name, this.#readModels)) !== this.#key)
      await this.#readModels.checkpoints.save(shapeOf(this.#name), this.#key)
  }

  async change(changes: Partial<ReadModelRecord>): Promise<void> {
    if (!this.#record) return
    this.#record = { ...this.#record, ...changes }
    const write = {
      collection: readModelRecords,
      id: this.#key,
      doc: this.#record,
      revision: 0,
      force: true,
    }
    await this.#readModels.write([write])
  }
}
