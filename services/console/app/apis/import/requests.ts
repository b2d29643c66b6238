import { answer, client } from '../../http/client.ts'
import { asProblem, RequestFailed } from '../../http/problem.ts'
import type { Schemas } from '../../http/schemas.ts'
import { upload } from '../../http/upload.ts'
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

export type Reason = NonNullable<JobResult['problem']>

const MOST_BYTES = 20 * 1_048_576
const BETWEEN_READS_MS = 500

/** Asks what the import of a document would do. @throws RequestFailed */
export function plan(source: Source, signal: AbortSignal): Promise<Outcome> {
  if ('url' in source) return byJob(source.url, true, signal)
  return whenAdmitted(async () => {
    const plan = (await send(source.file, '?dryRun=true', signal)) as Schemas['ImportPlan']
    const { api, version, document } = plan
    const isSame = [api, version, document].every(({ action }) => action === 'NONE')
    const status = api.action === 'CREATE' ? 'CREATED' : isSame ? 'UNCHANGED' : 'UPDATED'
    return { status, name: api.displayName, api: api.id, plan }
  }, signal)
}

/** Imports a document of which the plan is known. @throws RequestFailed */
export function run(source: Source, planned: Outcome, signal: AbortSignal): Promise<Outcome> {
  if ('url' in source) return byJob(source.url, false, signal)
  return whenAdmitted(async () => {
    const api = (await send(source.file, '', new AbortController().signal)) as Schemas['Api']
    return { ...planned, name: api.displayName, api: api.id }
  }, signal)
}

/**
 * Starts a job that imports the documents in their order.
 * @returns undefined when one request cannot have them: they are too large together, or one is no text, e.g. a zip
 * @throws RequestFailed
 */
export async function runAsJob(files: readonly File[]): Promise<Job | undefined> {
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
  const body = new Blob(lines)
  return body.size > MOST_BYTES ? undefined : sendLines(body, false)
}

function send(file: File, query: string, signal: AbortSignal): Promise<unknown> {
  if (file.size > MOST_BYTES)
    throw refused('The document is too large', 'A document may have at most 20 MiB.')
  const type = 'application/octet-stream'
  return upload({
    method: 'POST',
    path: `/apis/import${query}`,
    // Without a type of its own the browser would guess one from the name of the file.
    body: file.slice(0, file.size, type),
    headers: { 'content-type': type },
    signal,
    onProgress: () => {},
  })
}

const sendLines = async (body: Blob, dryRun: boolean): Promise<Job> =>
  (await upload({
    method: 'POST',
    path: `/apis/import${dryRun ? '?dryRun=true' : ''}`,
    body,
    headers: { 'content-type': 'application/x-ndjson' },
    signal: new AbortController().signal,
    onProgress: () => {},
  })) as Job

/** Imports from a URL, which the service reads in a job, and waits for the end of the job. */
async function byJob(url: string, dryRun: boolean, signal: AbortSignal): Promise<Outcome> {
  let job = await sendLines(new Blob([JSON.stringify({ url })]), dryRun)
  const path = { job_id: job.id }
  while (!hasEnded(job)) {
    await pause(BETWEEN_READS_MS, signal)
    if (signal.aborted) {
      await answer(client.POST('/jobs/{job_id}/cancel', { params: { path } })).catch(() => {})
      throw signal.reason
    }
    job = await answer(client.GET('/jobs/{job_id}', { params: { path } }))
  }
  const { content } = await answer(client.GET('/jobs/{job_id}/results', { params: { path, query: {} } }))
  const [result] = content
  if (result && result.status !== 'FAILED' && result.status !== 'DELETED')
    return { status: result.status, name: result.item, api: result.api }
  const { code, title, detail, errors } = result?.problem ??
    job.problem ?? { code: 'cancelled', title: 'The job was cancelled', detail: 'Try again.', errors: [] }
  throw new RequestFailed({ status: 0, code, title, detail, members: { errors } })
}

const refused = (title: string, detail: string) =>
  new RequestFailed({ status: 0, code: 'document-refused', title, detail })

/** Why a document is refused, with the errors in it. */
export function reasonOf(error: unknown): Reason {
  const { code, title, detail, members } = asProblem(error)
  const errors = members?.errors as Reason['errors']
  return { code, title, detail, ...(errors && { errors }) }
}
