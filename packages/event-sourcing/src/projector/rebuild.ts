import { sleep } from '@gantry/pacing'
import type { Generations, Lease } from '@gantry/stores'
import { type RecordedEvent, START } from '../log/event.ts'
import { projectLog } from '../projections/log-projection.ts'
import { stateCheckpointOf } from '../projections/ordered-projection.ts'
import {
  checkpointOf,
  generationOf,
  type ModelGeneration,
  type ProjectedModels,
} from '../projections/projected-models.ts'
import type { ReadModelReport } from './read-model-record.ts'

/** What the parts of a rebuild share. */
export interface Rebuilding {
  models: ProjectedModels
  report: ReadModelReport
  lease: Lease
}

const REPORT_MS = 1_000
const LOG_MS = 10_000
const IDLE_MS = 60_000

/** The generations that were live before, and that some processes may still read. */
export const formerOf = ({ live, written }: Generations): number[] =>
  written.filter(generation => generation < live)

/** The generation that is being built; undefined when there is none. */
export const buildingOf = ({ live, written }: Generations) => written.find(generation => generation > live)

/**
 * Announces a new generation: every process writes it from now on, or `settleMs` later. Its number is the time of the
 * store, so that no projector of another id has the same one.
 */
export async function beginBuild({ models, report, lease }: Rebuilding): Promise<number> {
  const { group, readModels, log, name } = models
  const now = await readModels.time()
  const { written, dropped } = await group.current()
  const generation = Math.max(now.getTime(), ...[...written, ...dropped].map(known => known + 1))
  await group.change(lease, current => ({ ...current, written: [...current.written, generation] }))
  log.info({ projector: name, generation }, 'builds the read models from the log')
  const at = now.toISOString()
  await report.change({
    rebuild: { startedAt: at, events: 0, position: START, eventsPerSecond: 0, updatedAt: at },
  })
  return generation
}

/**
 * Ends a request without a switch, and the build of a generation if it has begun. The report comes first: a projector that
 * dies between the two writes makes both again.
 * @param reason why it failed; left out when it was cancelled
 */
export async function abandonBuild(
  { models, report, lease }: Rebuilding,
  { request, building }: { request: string; building: number | undefined },
  reason?: string,
): Promise<void> {
  const { group, log, name } = models
  await report.end(reason === undefined ? 'CANCELLED' : 'FAILED', reason)
  await group.change(lease, ({ live, written, dropped }) => ({
    live,
    written: written.filter(generation => generation !== building),
    dropped: building === undefined ? dropped : [...dropped, building],
    ended: request,
  }))
  if (reason === undefined) log.info({ projector: name, generation: building }, 'has cancelled a rebuild')
  else log.error({ projector: name, generation: building, reason }, 'has given up a rebuild')
}

/**
 * Projects the log into a generation beside the live one. It begins when every process writes the generation: what a
 * command has written to the live generation only is then in the log. What commands write later is in both.
 * @returns whether it has caught up; false when the signal has ended it
 */
export async function build(
  { models, report, lease }: Rebuilding,
  generation: number,
  signal: AbortSignal,
): Promise<boolean> {
  const built = generationOf(models, generation)
  await sleep(models.group.settleMs, { signal })
  const onWritten = progressOf(built, report)
  await projectLog(built, { lease, signal, again: true, untilCaughtUp: true, onWritten })
  return !signal.aborted
}

/**
 * Makes a generation that was built the live one. The former live one must not be projected meanwhile: readers who have
 * waited for a position in it find that position in the new one. The former generation stays, for processes that have not
 * seen the switch.
 * The build fails if this release does not know all events: a newer one may have written documents that have their effect.
 */
export async function switchTo(
  rebuilding: Rebuilding,
  { request, building }: { request: string; building: number },
  signal: AbortSignal,
): Promise<void> {
  const { models, report, lease } = rebuilding
  const { group, readModels, log, name } = models
  const built = generationOf(models, building)
  await projectLog(built, { lease, signal, again: true, untilCaughtUp: true })
  if (signal.aborted) return
  const incomplete = await readModels.collection(built.held).count({ where: { status: 'INCOMPLETE' } })
  if (incomplete > 0) {
    const reason = `${incomplete} streams have events that this release does not know`
    return abandonBuild(rebuilding, { request, building }, reason)
  }
  await report.end('COMPLETED')
  await group.change(lease, ({ live, written, dropped }) => ({
    live: building,
    written: [building, live],
    dropped: [...dropped, ...written.filter(other => other !== live && other !== building)],
    ended: request,
  }))
  log.info({ projector: name, generation: building }, 'has switched to the new read models')
}

/**
 * Ends the writes to the former generation when every process has seen the switch, and deletes what no process writes any
 * more. Ends with the signal.
 */
export async function deleteFormer({ models, lease }: Rebuilding, signal: AbortSignal): Promise<void> {
  const { group, readModels } = models
  if (formerOf(await group.current()).length > 0) {
    await sleep(group.settleMs, { signal })
    if (signal.aborted) return
    await group.change(lease, current => ({
      ...current,
      written: current.written.filter(generation => generation >= current.live),
      dropped: [...current.dropped, ...formerOf(current)],
    }))
  }
  const { dropped } = await group.current()
  if (dropped.length > 0) await sleep(group.unusedMs, { signal })
  for (const generation of dropped) {
    if (signal.aborted) return
    const checkpoint = checkpointOf(models.id, generation)
    for (const name of [checkpoint, stateCheckpointOf(checkpoint)]) await readModels.checkpoints.clear(name)
    await group.discard(generation)
    await group.change(lease, current => ({
      ...current,
      dropped: current.dropped.filter(other => other !== generation),
    }))
  }
  while (!signal.aborted) await sleep(IDLE_MS, { signal })
}

/** Reports the progress of a build every second, and logs it from time to time. */
function progressOf({ name, generation, readModels, log }: ModelGeneration, report: ReadModelReport) {
  let events = 0
  const beganAt = performance.now()
  let [reportedAt, loggedAt] = [beganAt, beganAt]
  return async (written: readonly RecordedEvent[]) => {
    events += written.length
    const now = performance.now()
    const last = written.at(-1)
    const rebuild = report.record?.rebuild
    if (!last || !rebuild || now - reportedAt < REPORT_MS) return
    reportedAt = now
    const eventsPerSecond = Math.round((events * 1_000) / (now - beganAt))
    const updatedAt = (await readModels.time()).toISOString()
    await report.change({
      rebuild: { ...rebuild, events, position: last.position, eventsPerSecond, updatedAt },
    })
    if (now - loggedAt < LOG_MS) return
    loggedAt = now
    log.info({ projector: name, generation, events, through: last.recordedAt }, 'is building the read models')
  }
}
