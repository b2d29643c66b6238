import { setTimeout } from 'node:timers/promises'
import { sleep } from '@gantry/messaging'
import type { CollectionDefinition, Lease, ReadModels } from '@gantry/read-models'
import { type Position, START } from './event.ts'
import type { EventStore } from './event-store.ts'
import { type Log, supervise, underLease, type Worker } from './follower.ts'
import type { Projection } from './projection.ts'
import { projectRun, writeRuns } from './projection-run.ts'
import { follow, type Running } from './projector-run.ts'
import { heldStreams, listHeld, released, requestedRetry, retryDone } from './quarantine.ts'
import { rebuild } from './rebuild.ts'
import { forgetRemovals } from './removals.ts'
import { streamCategory } from './stream-name.ts'

export interface ProjectorOptions {
  /** Names the checkpoint and the lease, together with the shape of the collections; e.g. catalog.projector. */
  name: string
  eventStore: EventStore
  readModels: ReadModels
  projections: readonly Projection[]
  /** The collections that the projections write to. A rebuild removes documents from them that the log does not give. */
  // biome-ignore lint/suspicious/noExplicitAny: collections of different documents
  collections: readonly CollectionDefinition<any>[]
  holder: string
  log: Log
}

export interface Projector extends Worker {
  /** Whether the read models exist and have all events that were in the log at some moment since the start. */
  readonly caughtUp: boolean
  /** Whether the read models exist now; false after an operator has dropped them. */
  complete(): Promise<boolean>
  /** Waits until the read models have all events up to a position. @returns false when the time was up before */
  reached(position: Position, timeoutMs: number): Promise<boolean>
}

const LOOK_MS = 1_000

/** Repeats a task, with a pause before each time. */
async function every(ms: number, job: () => Promise<void>, signal: AbortSignal) {
  for (await sleep(ms, { signal }); !signal.aborted; await sleep(ms, { signal })) await job()
}

/**
 * Requests a rebuild of the read models from the log. The projector carries it out in the process that runs it, while
 * readers continue.
 * @returns a function that tells whether this request, or a later one in its place, has been carried out
 */
export async function requestRebuild(
  name: string,
  { checkpoints }: ReadModels,
  id: string,
): Promise<() => Promise<boolean>> {
  const requested = `${name}.rebuild.requested`
  const finished = async () => requestOf(await checkpoints.get(doneOf(name)))
  const others = [(await checkpoints.get(requested)) ?? 'none', await finished(), undefined]
  await checkpoints.save(requested, id)
  return async () => !others.includes(await finished())
}

const doneOf = (projector: string) => `${projector}.rebuild.done`

/** The request that a report names: the first of its words. */
const requestOf = (report: string | undefined) => report?.split(' ')[0]

/** Name of the checkpoint and of the lease of a projector. It depends on the shape of the collections. */
export const projectorKey = ({ name, collections }: Pick<ProjectorOptions, 'name' | 'collections'>) =>
  [name, ...[...collections, heldStreams(name)].map(({ name, version }) => `${name}@${version}`)].join(' ')

/**
 * Projects the log, also the events that a crash kept out of the read models. A lease makes sure that one replica does.
 * Documents are guarded by revision and the checkpoint by the lease, so that a paused holder that continues does no harm.
 * A stream with an event that cannot be processed is quarantined: its documents stay, and the checkpoint advances. Held
 * streams are projected again from their first event at each start of the projector and on request.
 * The read models are rebuilt when they were dropped, when a collection changed its shape, and on request. During an
 * upgrade that changes a shape, a projector of each shape runs, so that neither waits for the other.
 */
export function startProjector(given: ProjectorOptions): Projector {
  const name = projectorKey(given)
  const streams = heldStreams(given.name)
  const options: Running = {
    ...given,
    collections: [...given.collections, streams],
    key: name,
    held: streams,
    byCategory: new Map(given.projections.map(projection => [projection.category, projection])),
  }
  const { readModels, log, holder } = options
  const { checkpoints, leases } = readModels
  const wanted = async () => `${(await checkpoints.get(`${given.name}.rebuild.requested`)) ?? 'none'} ${name}`
  const built = () => checkpoints.get(`${name}.rebuild.done`)
  // Names no shape, for the process that requested the rebuild. Not fenced: the projectors of all shapes write it.
  const reported = () => checkpoints.get(doneOf(given.name))
  const report = (goal: string) => checkpoints.save(doneOf(given.name), goal)
  const complete = async () => (await built()) !== undefined && (await checkpoints.get(name)) !== undefined
  let caughtUp = false
  for (const projection of given.projections)
    projection.attach(async position => ((await checkpoints.get(name)) ?? START) >= position)

  const worker = supervise(given.name, log, signal =>
    underLease({ leases, name, holder, signal }, async (lease, held) => {
      const goal = await wanted()
      const last = await built()
      const isThere = (await checkpoints.get(name)) !== undefined
      if (last !== goal || !isThere) {
        await rebuild(options, { lease, signal: held, serving: last !== undefined && isThere })
        if (held.aborted) return
        // The report comes first: a projector that dies between the two writes rebuilds again and then writes both.
        await report(goal)
        await checkpoints.save(`${name}.rebuild.done`, goal, lease)
      }
      const retry = await requestedRetry(given.name, readModels)
      await retryHeld(options, { lease, signal: held, stream: retry.isDone ? undefined : retry.stream })
      if (held.aborted) return
      if (!retry.isDone) await retryDone(given.name, readModels, retry)
      const stale = new AbortController()
      const signal = AbortSignal.any([held, stale.signal])
      const look = async () => {
        const asked = [
          wanted(),
          requestedRetry(given.name, readModels),
          checkpoints.get(name),
          reported(),
        ] as const
        const found = await Promise.all(asked).catch(() => undefined)
        if (!found) return
        const [wantedNow, retryNow, position, lastReport] = found
        if (wantedNow !== goal || retryNow.id !== retry.id || position === undefined) stale.abort()
        // A holder that was paused may have overwritten the report with an earlier one.
        else if (requestOf(lastReport) !== requestOf(goal)) await report(goal).catch(() => {})
      }
      void every(LOOK_MS, look, signal)
      const forgetting = forgetRemovals(options, signal)
      try {
        await follow(options, { lease, signal })
      } finally {
        stale.abort()
        await forgetting
      }
    }),
  )

  // Ready when the read models have all events that were in the log at some moment, whichever replica projected them.
  // Not ready while they are missing because an operator dropped them.
  const readiness = supervise(`${given.name}.readiness`, log, async signal => {
    while (!signal.aborted) {
      const head = await options.eventStore.head()
      while (!caughtUp && !signal.aborted) {
        const reached = ((await checkpoints.get(name)) ?? START) >= head
        caughtUp = reached && (await built()) === (await wanted())
        if (!caughtUp) await sleep(10, { signal })
      }
      while (caughtUp && !signal.aborted) {
        await sleep(LOOK_MS, { signal })
        if (!(await complete())) caughtUp = false
      }
    }
  })

  return {
    get caughtUp() {
      return caughtUp
    },
    complete,
    async reached(position, timeoutMs) {
      const deadline = performance.now() + timeoutMs
      while (((await checkpoints.get(name)) ?? START) < position) {
        if (performance.now() >= deadline) return false
        await setTimeout(5)
      }
      return true
    },
    async stop() {
      await Promise.all([worker.stop(), readiness.stop()])
    },
  }
}

/**
 * Projects held streams again from their first event. A stream that is incomplete is left until a release knows one of
 * its unknown events.
 */
async function retryHeld(
  options: Running,
  { lease, signal, stream: only }: { lease: Lease; signal: AbortSignal; stream: string | undefined },
): Promise<void> {
  const { name, key, eventStore, readModels, byCategory, log } = options
  for await (const stream of listHeld(options.held, readModels)) {
    if (signal.aborted) return
    if (only !== undefined && stream.id !== only) continue
    const projection = byCategory.get(streamCategory(stream.id))
    if (!projection) continue
    if (stream.status === 'INCOMPLETE' && !stream.unknown.some(projection.knows)) continue
    const run = await projectRun(options, projection, await eventStore.readStream(stream.id), true)
    if (!run.holds) run.writes.push(released(options.held, stream.id))
    const position = await readModels.checkpoints.get(key)
    if (position === undefined) return
    await writeRuns(options, [run], { force: true, checkpoint: { name: key, position, lease } })
    if (!run.holds) log.info({ projector: name, stream: stream.id }, 'a held stream is projected again')
  }
}
