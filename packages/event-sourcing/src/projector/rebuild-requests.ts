import type { Lease, ReadModels } from '@gantry/stores'

const requestedOf = (projector: string) => `${projector}.rebuild.requested`
const cancelledOf = (projector: string) => `${projector}.rebuild.cancelled`
const doneOf = (projector: string) => `${projector}.rebuild.done`

/** The request that a report names: the first of its words. */
const requestOf = (report: string | undefined) => report?.split(' ')[0]

/**
 * Requests a rebuild of the read models from the log. The projector carries it out in the process that runs it, while
 * readers continue. A request during a build is carried out by that build.
 * @returns a function that tells whether this request, or a later one in its place, has been carried out or cancelled
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

/** Joins the pending request, or requests a rebuild when there is none. @returns like requestRebuild */
export async function joinRebuild(
  projector: string,
  readModels: ReadModels,
  id: string,
): Promise<() => Promise<boolean>> {
  const finished = async () => requestOf(await readModels.checkpoints.get(doneOf(projector)))
  const before = await finished()
  if ((await pendingRebuild(projector, readModels)) === undefined)
    return requestRebuild(projector, readModels, id)
  // A cancelled request is no longer pending, and its end is reported later.
  return async () => (await finished()) !== before
}

/** The request that waits to be carried out or is carried out now; undefined when there is none. */
export async function pendingRebuild(
  projector: string,
  { checkpoints }: ReadModels,
): Promise<string | undefined> {
  const [requested, cancelled, done] = await Promise.all(
    [requestedOf, cancelledOf, doneOf].map(nameOf => checkpoints.get(nameOf(projector))),
  )
  return requested === undefined || requested === cancelled || requested === requestOf(done)
    ? undefined
    : requested
}

/** Cancels a request. The projector drops what it has built for it. */
export const cancelRebuild = (projector: string, { checkpoints }: ReadModels, id: string): Promise<void> =>
  checkpoints.save(cancelledOf(projector), id)

interface Requested {
  name: string
  /** The name of the projector together with the shape of its collections. */
  key: string
  readModels: ReadModels
}

/** The last request for a rebuild of a projector, and whether its read models of one shape are made for it. */
export class RebuildRequests {
  readonly #requested: Requested

  constructor(requested: Requested) {
    this.#requested = requested
  }

  /** The last request together with the shape of the collections. */
  async wanted(): Promise<string> {
    const { name, key } = this.#requested
    return `${(await this.#checkpoints.get(requestedOf(name))) ?? 'none'} ${key}`
  }

  async isCancelled(wanted: string): Promise<boolean> {
    return (await this.#checkpoints.get(cancelledOf(this.#requested.name))) === requestOf(wanted)
  }

  /** The request that was carried out last; undefined before the read models are made for the first time. */
  carriedOut(): Promise<string | undefined> {
    return this.#checkpoints.get(doneOf(this.#requested.key))
  }

  /** To be called before read models that were lost are made again. */
  forget(): Promise<void> {
    return this.#checkpoints.clear(doneOf(this.#requested.key))
  }

  async complete(wanted: string, lease: Lease): Promise<void> {
    // The report comes first: a projector that dies between the two writes completes the request again.
    await this.#report(wanted)
    await this.#checkpoints.save(doneOf(this.#requested.key), wanted, lease)
  }

  /** Reports a rebuild again if a holder of the lease that was paused has overwritten the report with an earlier one. */
  async repairReport(wanted: string): Promise<void> {
    const report = await this.#checkpoints.get(doneOf(this.#requested.name))
    if (requestOf(report) !== requestOf(wanted)) await this.#report(wanted)
  }

  /** For the process that requested the rebuild. It names no shape and is not fenced: projectors of all shapes write it. */
  #report(wanted: string) {
    return this.#checkpoints.save(doneOf(this.#requested.name), wanted)
  }

  get #checkpoints() {
    return this.#requested.readModels.checkpoints
  }
}
