import { JOB_KEPT_DAYS, PROBLEMS, type ProblemCode, Refusal, requests } from '@gantry/contracts'
import {
  type Actor,
  type CommandMetadata,
  type ConfirmLease,
  type Log,
  nameUuids,
  pastQuarantine,
  superviseUnderLease,
  type Worker,
} from '@gantry/event-sourcing'
import { sleep } from '@gantry/pacing'
import { type Dependencies, ownMetadata, refusalOf } from '@gantry/service-runtime'
import { pagesOf } from '@gantry/stores'
import type { JobAggregate } from './job.decide.ts'
import type { JobInputs } from './job.input.ts'
import { jobs } from './job.projection.ts'
import { type ItemResult, isActive, isPresent, type Job, type JobFailure, type JobTask } from './job.ts'

/** An item of a job, and the metadata of commands about it. */
interface ItemWork {
  job: Job
  /** From 0. */
  index: number
  /** The command id is the same in every try of the item, so that it is done once. */
  metadata: CommandMetadata
}

/** How the items of a type of jobs are done. */
export interface JobKind {
  /** Number of items that are done at the same time. With 1 they are done in their order. */
  atOnce: number
  /** Names an item that has failed. */
  nameOf(item: string, index: number): string
  /** Does one item. A repeated call completes what an earlier one has begun. @throws Refusal for an item that fails */
  perform(item: string, work: ItemWork): Promise<Omit<ItemResult, 'problem'>>
}

export interface JobRunnerOptions {
  job: JobAggregate
  inputs: JobInputs
  kinds: Readonly<Record<JobTask['type'], JobKind>>
  dependencies: Pick<Dependencies, 'readModels' | 'process' | 'now' | 'newId'>
}

const NAME = 'catalog.jobs'
/** Items, and time, of a job before the next job follows. Their results are one event. */
const BATCH = 100
const BATCH_MS = 1_000
const IDLE_MS = 250
/** Pause of a job after a failure that another try may not have. */
const PAUSE_MS = 2_000
/** Time after which a request has stored all items of its job, unless its process has died. */
const STORED_MS = 60_000
/** How long the creator's rights are used without asking identity. */
const RIGHTS_MS = 1_000
const INPUT_KEPT_MS = 3_600_000
const JOB_KEPT_MS = JOB_KEPT_DAYS * 86_400_000
const SWEEP_MS = 60_000
const PAGE = 100
const MAX_DETAIL = 500
const MAX_ERRORS = 5

const itemUuid = nameUuids('b52f7f0e-0e2a-4c8e-8f7d-3f1f1a9c6d04')

/**
 * Runs the jobs, a batch of each in turn, in one process at a time, by lease. The results of a batch are recorded together.
 * After the death of a process the next one does the items of the last batch again: their commands have the same ids, so
 * that each is carried out once.
 */
export function startJobRunner(options: JobRunnerOptions): Worker {
  const { readModels, process } = options.dependencies
  const { holder, log } = process
  const lease = { leases: readModels.leases, name: NAME, holder, log }
  return superviseUnderLease(lease, async (_, leaseSignal, confirm) => {
    const runner = new JobRunner(options, leaseSignal, confirm)
    while (!leaseSignal.aborted) {
      const advanced = await runner.advanceAll()
      await runner.removeOld()
      if (!advanced) await sleep(IDLE_MS, { signal: leaseSignal })
    }
  })
}

/** The runs of jobs while the process holds the lease. */
class JobRunner {
  readonly #options: JobRunnerOptions
  readonly #signal: AbortSignal
  readonly #confirm: ConfirmLease
  readonly #rights: RightsOf
  /** By job: the number of the first item that certainly no process has begun. */
  readonly #untouched = new Map<string, number>()
  /** By job: the monotonic time until which it pauses. */
  readonly #paused = new Map<string, number>()
  #sweptAt = Number.NEGATIVE_INFINITY

  constructor(options: JobRunnerOptions, signal: AbortSignal, confirm: ConfirmLease) {
    this.#options = options
    this.#signal = signal
    this.#confirm = confirm
    this.#rights = rightsNow(options.dependencies.process.peers)
  }

  /** Does a batch of each job that has not ended. A failure of one job does not stop the others. @returns whether any advanced */
  async advanceAll(): Promise<boolean> {
    const { readModels, process } = this.#options.dependencies
    let advanced = false
    for await (const page of pagesOf(readModels.collection(jobs), { by: 'activeSince', size: PAGE }))
      for (const doc of page) {
        if (this.#signal.aborted) return advanced
        if ((this.#paused.get(doc.id) ?? 0) > performance.now()) continue
        const done = await this.#advance(doc.id).catch(error => {
          this.#pause(doc.id, error, process.log)
          return false
        })
        advanced ||= done
      }
    return advanced
  }

  /** Removes the items of jobs that ended some time ago, and later the jobs with their results. */
  async removeOld(): Promise<void> {
    const { job, inputs } = this.#options
    if (this.#signal.aborted || performance.now() - this.#sweptAt < SWEEP_MS) return
    this.#sweptAt = performance.now()
    for (const id of await this.#endedBefore('inputUntil', INPUT_KEPT_MS)) {
      await inputs.remove(id)
      await this.#sweep(job.execute(id, { type: 'RemoveInput', metadata: this.#metadata() }))
    }
    for (const id of await this.#endedBefore('finishedAt', JOB_KEPT_MS))
      await this.#sweep(job.execute(id, { type: 'RemoveJob', metadata: this.#metadata() }))
  }

  async #endedBefore(field: 'inputUntil' | 'finishedAt', keptMs: number): Promise<string[]> {
    const { readModels, now } = this.#options.dependencies
    const before = new Date(now().getTime() - keptMs).toISOString()
    const where = { [field]: { lt: before } }
    const sort = [{ field, direction: 'asc' as const }]
    const old = await readModels.collection(jobs).list({ where, sort, limit: PAGE })
    return old.map(({ doc }) => doc.id)
  }

  /** Waits for the end of a command. A quarantined job does not stop the others. */
  async #sweep(execution: Promise<unknown>): Promise<void> {
    await execution.catch(pastQuarantine(this.#options.dependencies.process.log))
  }

  #metadata(): CommandMetadata {
    return ownMetadata(this.#options.dependencies, 'job runner')
  }

  #pause(id: string, error: unknown, log: Log): void {
    if (this.#signal.aborted) return
    this.#paused.set(id, performance.now() + PAUSE_MS)
    log.warn({ job: id, err: error }, 'cannot advance a job, tries again')
  }

  /** Does the next batch of a job. @returns whether it has advanced or ended */
  async #advance(id: string): Promise<boolean> {
    const { job, inputs, dependencies } = this.#options
    const { state } = await job.load(id)
    if (!isPresent(state) || !isActive(state)) return false
    const items = await inputs.load(id, state.pieces)
    if (items === undefined && dependencies.now().getTime() < Date.parse(state.createdAt) + STORED_MS)
      return false
    const refused = items?.length === state.total ? await this.#rights(state.actor) : NOT_STORED
    if (refused) {
      await job.execute(id, { type: 'FailJob', metadata: this.#metadata(), problem: refused })
      this.#forget(id)
      return true
    }
    if (!this.#untouched.has(id)) this.#untouched.set(id, state.startedAt ? state.position + BATCH : 0)
    if (state.status === 'QUEUED') await job.execute(id, { type: 'StartJob', metadata: this.#metadata() })
    const from = state.position
    const { results, stopped } = await this.#batch(state, items ?? [])
    this.#confirm()
    await job.execute(id, { type: 'AdvanceJob', metadata: this.#metadata(), from, results })
    if (stopped !== undefined) throw stopped
    if (from + results.length === state.total) this.#forget(id)
    return true
  }

  #forget(id: string): void {
    this.#untouched.delete(id)
    this.#paused.delete(id)
  }

  /**
   * Does items from the position of a job on.
   * @returns the results of those without a gap, and the failure that stopped the batch
   */
  async #batch(job: Job, items: readonly string[]): Promise<{ results: ItemResult[]; stopped?: unknown }> {
    const { atOnce } = this.#options.kinds[job.task.type]
    const from = job.position
    const until = performance.now() + BATCH_MS
    const results = new Map<number, ItemResult>()
    let next = from
    let stopped: unknown
    const goesOn = () =>
      stopped === undefined &&
      !this.#signal.aborted &&
      next < Math.min(job.total, from + BATCH) &&
      (next === from || performance.now() < until)
    const work = async () => {
      while (goesOn()) {
        try {
          // The next batch ends a job whose creator lacks the rights.
          if (await this.#rights(job.actor)) return
          if (!goesOn()) return
          const index = next++
          results.set(index, await this.#perform(job, items[index] ?? '', index))
        } catch (error) {
          stopped ??= error
        }
      }
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    this.#untouched.set(job.id, Math.max(next, this.#untouched.get(job.id) ?? 0))
    const inOrder = Array.from({ length: next - from }, (_, n) => results.get(from + n))
    const gap = inOrder.indexOf(undefined)
    const recorded = gap === -1 ? inOrder : inOrder.slice(0, gap)
    return { results: recorded.flatMap(result => result ?? []), stopped }
  }

  /** @throws an error that another try may not have, e.g. Unanswered */
  async #perform(job: Job, item: string, index: number): Promise<ItemResult> {
    const { kinds, dependencies } = this.#options
    const { now, process } = dependencies
    const metadata: CommandMetadata = {
      commandId: itemUuid(`${job.id}/${index}`),
      now: now().toISOString(),
      actor: job.actor,
      requestId: job.requestId,
      repeated: index < (this.#untouched.get(job.id) ?? 0),
    }
    try {
      return { ...(await kinds[job.task.type].perform(item, { job, index, metadata })), problem: null }
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal && TRANSIENT.has(refusal.code)) throw error
      if (!refusal) process.log.error({ job: job.id, index, err: error }, 'an item of a job failed')
      const name = kinds[job.task.type].nameOf(item, index)
      return { item: name, status: 'FAILED', api: null, problem: failureOf(refusal) }
    }
  }
}

const NOT_STORED: JobFailure = {
  code: 'unavailable',
  detail: 'the request ended before it had stored all items: send it again',
}

/** Refusals that do not concern the item. */
const TRANSIENT: ReadonlySet<ProblemCode> = new Set([
  'unavailable',
  'not-ready',
  'too-many-checks',
  'too-many-requests',
  'body-memory-full',
])

function failureOf({ code, details }: Refusal = new Refusal('internal-error')): JobFailure {
  const { detail, errors } = details as { detail?: unknown; errors?: readonly { message: string }[] }
  const text = typeof detail === 'string' && detail !== '' ? detail : PROBLEMS[code].title
  const first = errors?.slice(0, MAX_ERRORS).map(error => ({ ...error, message: clip(error.message) }))
  return { code, detail: clip(text), ...(first && { errors: first }) }
}

const clip = (text: string) => text.slice(0, MAX_DETAIL).toWellFormed()

/** Why the creator of a job may no longer make its changes; undefined if they may. @throws Unanswered */
type RightsOf = (actor: Actor) => Promise<JobFailure | undefined>

function rightsNow(peers: Dependencies['process']['peers']): RightsOf {
  const known = new Map<string, { asked: Promise<JobFailure | undefined>; until: number }>()
  const ask = async ({ id, tokenId }: Actor): Promise<JobFailure | undefined> => {
    try {
      const { scopes } = await peers.ask(requests.scopesNow, { user: id ?? '', token: tokenId ?? null })
      if (scopes.includes('API_WRITE')) return undefined
      return { code: 'scope-missing', detail: 'the creator of the job no longer has the scope API_WRITE' }
    } catch (error) {
      if (!(error instanceof Refusal && error.code === 'unauthenticated')) throw error
      const { detail } = error.details
      return { code: 'unauthenticated', detail: String(detail ?? PROBLEMS[error.code].title) }
    }
  }
  return actor => {
    const key = `${actor.id} ${actor.tokenId ?? ''}`
    const earlier = known.get(key)
    if (earlier && performance.now() < earlier.until) return earlier.asked
    const asked = ask(actor)
    known.clear()
    known.set(key, { asked, until: performance.now() + RIGHTS_MS })
    asked.catch(() => known.delete(key))
    return asked
  }
}
