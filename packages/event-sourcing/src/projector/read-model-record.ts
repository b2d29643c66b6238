import { defineCollection, type ReadModels } from '@gantry/stores'
import type { Position } from '../log/event.ts'

/** The rebuild under way, which builds a generation. Timestamps are ISO 8601. */
export interface Rebuild {
  startedAt: string
  /** Number of events that were projected since the last start of a holder of the lease. */
  events: number
  /** Position up to which the log is projected. */
  position: Position
  eventsPerSecond: number
  /** When the holder of the lease last reported progress. */
  updatedAt: string
}

export interface EndedRebuild {
  startedAt: string
  outcome: 'COMPLETED' | 'CANCELLED' | 'FAILED'
  /** Why it failed. */
  reason: string | null
  endedAt: string
}

/** What the holder of a projector's lease reports about it, for operators. Nothing is decided on it. */
export interface ReadModelRecord {
  /** Id of the projector. */
  id: string
  /** Name of the projector. */
  name: string
  checkpoint: string
  /** Collections with their versions, e.g. `catalog.apis@3`. */
  collections: readonly string[]
  generation: number
  /** The rebuild under way; null when there is none. */
  rebuild: Rebuild | null
  lastRebuild: EndedRebuild | null
  /** Why the projector failed last, and when; null once it has recovered. */
  error: { message: string; at: string } | null
}

const readModelRecords = defineCollection<ReadModelRecord>({
  name: 'readmodels.records',
  version: 1,
  fields: {},
})

const latestOf = (projector: string) => `${projector}.latest`

/** The id of the projector of this name that started last; during an upgrade, projectors of two ids may run. */
export const latestIdOf = (projector: string, { checkpoints }: ReadModels): Promise<string | undefined> =>
  checkpoints.get(latestOf(projector))

/** The records of all projectors that were ever started, in the order of their names; each name once, with its latest id. */
export async function listReadModels(readModels: ReadModels): Promise<ReadModelRecord[]> {
  const found = await readModels.collection(readModelRecords).list({ limit: 1_000 })
  const records = await Promise.all(
    found.map(async ({ doc }) => ((await latestIdOf(doc.name, readModels)) === doc.id ? [doc] : [])),
  )
  return records.flat()
}

/** Changes the record of a projector. The last change wins: only the holder of the lease makes one. */
export class ReadModelReport {
  readonly #readModels: ReadModels
  readonly #name: string
  readonly #id: string
  #record: ReadModelRecord | undefined

  constructor({ readModels, name, id }: { readModels: ReadModels; name: string; id: string }) {
    this.#readModels = readModels
    this.#name = name
    this.#id = id
  }

  get record(): ReadModelRecord | undefined {
    return this.#record
  }

  /** Begins with what the previous holder has reported. From now on this record is the one that is listed. */
  async begin(now: Pick<ReadModelRecord, 'checkpoint' | 'collections' | 'generation'>): Promise<void> {
    const stored = await this.#readModels.collection(readModelRecords).get(this.#id)
    const { rebuild = null, lastRebuild = null } = stored?.doc ?? {}
    this.#record = { id: this.#id, name: this.#name, ...now, rebuild, lastRebuild, error: null }
    await this.change({})
    if ((await latestIdOf(this.#name, this.#readModels)) !== this.#id)
      await this.#readModels.checkpoints.save(latestOf(this.#name), this.#id)
  }

  async change(changes: Partial<ReadModelRecord>): Promise<void> {
    if (!this.#record) return
    this.#record = { ...this.#record, ...changes }
    const write = {
      collection: readModelRecords,
      id: this.#id,
      doc: this.#record,
      revision: 0,
      force: true,
    }
    await this.#readModels.write([write])
  }

  /** Reports the end of the rebuild under way. A request cancelled before its build starts counts as ended at the start. */
  async end(outcome: EndedRebuild['outcome'], reason: string | null = null): Promise<void> {
    if (!this.#record?.rebuild && outcome !== 'CANCELLED') return
    const endedAt = (await this.#readModels.time()).toISOString()
    const { startedAt } = this.#record?.rebuild ?? { startedAt: endedAt }
    await this.change({ rebuild: null, lastRebuild: { startedAt, outcome, reason, endedAt } })
  }
}
