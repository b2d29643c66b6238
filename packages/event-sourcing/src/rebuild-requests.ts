import type { Lease, ReadModels } from '@gantry/read-models'
import type { ReadSide } from './read-side.ts'

const requestedOf = (projector: string) => `${projector}.rebuild.requested`
const doneOf = (projector: string) => `${projector}.rebuild.done`

/** The request that a report names: the first of its words. */
const requestOf = (report: string | undefined) => report?.split(' ')[0]

/**
 * Requests a rebuild of the read models from the log. The projector carries it out in the process that runs it, while
 * readers continue.
 * @returns a function that tells whether this request, or a later one in its place, has been carried out
 */
export async function requestRebuild(
  projector: string,
  { checkpoints }: ReadModels,
  id: string,
): Promise<() => Promise<boolean>> {
  const finished = async () => requestOf(await checkpoints.get(doneOf(projector)))
  const others = [(await checkpoints.get(requestedOf(projector))) ?? 'none', await finished(), undefined]
  await checkpoints.save(requestedOf(projector), id)
  return async () => !others.includes(await finished())
}

/** The last request for a rebuild of a projector, and whether its read models of one shape are made for it. */
export class RebuildRequests {
  readonly #readSide: Pick<ReadSide, 'name' | 'key' | 'readModels'>

  constructor(readSide: Pick<ReadSide, 'name' | 'key' | 'readModels'>) {
    this.#readSide = readSide
  }

  /** The last request together with the shape of the collections. */
  async wanted(): Promise<string> {
    const { name, key } = this.#readSide
    return `${(await this.#checkpoints.get(requestedOf(name))) ?? 'none'} ${key}`
  }

  /** The request that was carried out last; undefined before the read models were ever made. */
  carriedOut(): Promise<string | undefined> {
    return this.#checkpoints.get(doneOf(this.#readSide.key))
  }

  async complete(wanted: string, lease: Lease): Promise<void> {
    // The report comes first: a projector that dies between the two writes rebuilds again and then writes both.
    await this.#report(wanted)
    await this.#checkpoints.save(doneOf(this.#readSide.key), wanted, lease)
  }

  /** Reports a rebuild again if a holder of the lease that was paused has overwritten the report with an earlier one. */
  async repairReport(wanted: string): Promise<void> {
    const report = await this.#checkpoints.get(doneOf(this.#readSide.name))
    if (requestOf(report) !== requestOf(wanted)) await this.#report(wanted)
  }

  /** For the process that requested the rebuild. It names no shape and is not fenced: projectors of all shapes write it. */
  #report(wanted: string) {
    return this.#checkpoints.save(doneOf(this.#readSide.name), wanted)
  }

  get #checkpoints() {
    return this.#readSide.readModels.checkpoints
  }
}
