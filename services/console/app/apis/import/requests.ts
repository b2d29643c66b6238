import { answer, client } from '../../http/client.ts'
import { asProblem, RequestFailed } from '../../http/problem.ts'
import type { Schemas } from '../../http/schemas.ts'
import { uploader } from '../../http/upload.ts'
import { pause, whenAdmitted } from '../../parts/admitted.ts'
import { hasEnded, type Job, type JobResult } from '../../parts/jobs.ts'

/** What is imported: a file, or what is at a URL. */
export type Source = { file: File } | { url: string }

/** What an import would do, or has done. */
export interface Outcome {
  status: 'CREATED' | 'UPDATED' | 'UNCHANGED'
  /** Name of the API. */
  name: string
  /** Id of the API, if it exists. */
  api: string | null
  /** The plan; known of files before their import. */
  plan?: Schemas['ImportPlan']
}

export type Change = 'New API' | 'New version' | 'Update' | 'Unchanged'

/** What each import would do, by the id of its item. Of several documents of a new API the first one creates it. */
export function changesOf(items: readonly { id: string; outcome?: Outcome }[]): ReadonlyMap<string, Change> {
  const created = new Set<string>()
  const changeOf = ({ status, plan, name }: Outcome): Change => {
    if (status === 'UNCHANGED') return 'Unchanged'
    const api = plan?.api.name ?? name
    if (status === 'CREATED' && !created.has(api)) {
      created.add(api)
      return 'New API'
    }
    return status === 'CREATED' || plan?.version.action === 'CREATE' ? 'New version' : 'Update'
  }
  return new Map(items.flatMap(({ id, outcome }) => (outcome ? [[id, changeOf(outcome)]] : [])))
}

export type Reason = NonNullable<JobResult['problem']>

const MOST_BYTES = 20 * 1_048_576
const BETWEEN_READS_MS = 500

/** Asks what the import of a document would do. @throws RequestFailed, ProblemError or ConnectionError */
export function plan(source: Source, signal: AbortSignal): Promise<Outcome> {
  if ('url' in source) return byJob(source.url, undefined, signal)
  return whenAdmitted(async () => {
    const plan = (await send(source.file, undefined, signal)) as Schemas['ImportPlan']
    const { api, version, document } = plan
    const isSame = [api, version, document].every(({ action }) => action === 'NONE')
    const status = api.action === 'CREATE' ? 'CREATED' : isSame ? 'UNCHANGED' : 'UPDATED'
    return { status, name: api.displayName, api: api.id, plan }
  }, signal)
}

interface Import {
  source: Source
  planned: Outcome
  /** Idempotency-Key of the import: sent again after a lost response, it imports nothing twice. */
  key: string
}

/** Imports a document of which the plan is known. @throws RequestFailed, ProblemError or ConnectionError */
export function run({ source, planned, key }: Import, signal: AbortSignal): Promise<Outcome> {
  if ('url' in source) return byJob(source.url, key, signal)
  return whenAdmitted(async () => {
    const api = (await send(source.file, key, new AbortController().signal)) as Schemas['Api']
    return { ...planned, name: api.displayName, api: api.id }
  }, signal)
}

/**
 * Starts a job that imports the documents in their order.
 * @param key Idempotency-Key of the job
 * @returns undefined when one request cannot have them: they are too large together, or one is no text, e.g. a zip
 * @throws ProblemError or ConnectionError
 */
export async function runAsJob(files: readonly File[], key: string): Promise<Job | undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const lines: string[] = []
  let size = 0
  for (const file of files) {
    size += file.size
    if (size > MOST_BYTES) return undefined
    try {
      lines.push(`${JSON.stringify({ document: decoder.decode(await file.arrayBuffer()) })}\n`)
    } catch (error) {
      if (error instanceof TypeError) return undefined
      throw error
    }
  }
  const body = linesOf(lines)
  return body.size > MOST_BYTES ? undefined : sendLines(body, key)
}

function send(file: File, key: string | undefined, signal: AbortSignal): Promise<unknown> {
  if (file.size > MOST_BYTES)
    throw refused('The document is too large', 'A document may have at most 20 MiB.')
  // Without a type of its own the browser would guess one from the name of the file.
  return post(file.slice(0, file.size, 'application/octet-stream'), key, signal)
}

const linesOf = (lines: string[]) => new Blob(lines, { type: 'application/x-ndjson' })

const sendLines = async (body: Blob, key: string | undefined): Promise<Job> => (await post(body, key)) as Job

/** @param key Idempotency-Key of an import; without one the answer is the plan */
async function post(body: Blob, key: string | undefined, signal?: AbortSignal): Promise<unknown> {
  const { importApi } = uploader()
  const answered = await (key === undefined
    ? importApi({ dryRun: true, body }, { signal })
    : importApi({ body }, { idempotencyKey: key, signal }))
  return answered.body
}

/** Imports from a URL, which the service reads in a job, and waits for the end of the job. */
async function byJob(url: string, key: string | undefined, signal: AbortSignal): Promise<Outcome> {
  let job = await sendLines(linesOf([JSON.stringify({ url })]), key)
  const path = { job_id: job.id }
  while (!hasEnded(job)) {
    await pause(BETWEEN_READS_MS, signal)
    if (signal.aborted) {
      await answer(client.cancelJob(path)).catch(() => {})
      throw signal.reason
    }
    job = await answer(client.getJob(path))
  }
  const { content } = await answer(client.listJobResults(path))
  const [result] = content
  if (result && result.status !== 'FAILED' && result.status !== 'DELETED')
    return { status: result.status, name: result.item, api: result.api }
  const { code, title, detail, errors } = result?.problem ??
    job.problem ?? { code: 'cancelled', title: 'The job was cancelled', detail: 'Try again.', errors: [] }
  throw new RequestFailed({ status: 0, code, title, detail, members: { errors } })
}

const refused = (title: string, detail: string) =>
  new RequestFailed({ status: 0, code: 'document-refused', title, detail })

/** Whether a failed import may succeed when it is sent again: the service has not answered, or not refused it. */
export function mayBeRepeated(error: unknown): boolean {
  const { status, code } = asProblem(error)
  return code === 'unreachable' || code === 'request-in-progress' || status >= 500
}

/** Why a document is refused, with the errors in it. */
export function reasonOf(error: unknown): Reason {
  const { code, title, detail, members } = asProblem(error)
  const errors = members?.errors as Reason['errors']
  return { code, title, detail, ...(errors && { errors }) }
}
