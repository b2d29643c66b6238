import {
  type ImportPlan,
  invalidField,
  MAX_DOCUMENT_BYTES,
  MAX_JOB_ITEMS,
  Refusal,
  requests,
} from '@gantry/contracts'
import { nameUuids } from '@gantry/event-sourcing'
import { gunzipped, type Peers } from '@gantry/service-runtime'
import { z } from 'zod'
import type { JobKind } from '../job/job.runner.ts'
import type { ApiImports, GivenDocument } from './imports.ts'

const bodyTooLarge = () =>
  new Refusal('body-too-large', { detail: `the body may have at most ${MAX_DOCUMENT_BYTES} bytes` })
const idUuid = nameUuids('9d0a7c3f-4b7e-4f0b-9a52-6f4b7f2b8e13')

export const isNdjson = (type = ''): boolean => /^\s*application\/(x-)?ndjson\s*(;|$)/i.test(type)

/** The lines of newline-delimited JSON, without empty ones. @throws Refusal invalid-request, body-too-large, malformed-request */
export async function linesIn({ bytes, isGzip }: GivenDocument): Promise<string[]> {
  const plain = isGzip ? await gunzipped(bytes, MAX_DOCUMENT_BYTES, bodyTooLarge) : Buffer.from(bytes)
  const lines = plain
    .toString()
    .split('\n')
    .filter(line => line.trim() !== '')
  if (lines.length > MAX_JOB_ITEMS)
    throw invalidField('', `the body must have at most ${MAX_JOB_ITEMS} lines, not ${lines.length}`)
  return lines
}

/** Imports the documents of lines, in their order: a later one may be of the same API. */
export function importJobs(imports: ApiImports, peers: Pick<Peers, 'ask'>): JobKind {
  const documentIn = async (line: string): Promise<GivenDocument> => {
    const url = urlIn(line)
    if (url === undefined) return { bytes: Buffer.from(textIn(line)) }
    const { gzip, charset } = await peers.ask(requests.fetchDocument, { url })
    return { bytes: Buffer.from(gzip, 'base64'), isGzip: true, charset }
  }

  return {
    atOnce: 1,
    nameOf: (_, index) => String(index + 1),
    async perform(line, { job, metadata }) {
      const document = await documentIn(line)
      if (job.task.type === 'IMPORT' && job.task.dryRun) {
        const plan = await imports.plan(document, metadata)
        return { item: plan.api.name, api: plan.api.id, status: statusOf(plan) }
      }
      const idOf = (part: string) => idUuid(`${metadata.commandId}/${part}`)
      const ids = { api: idOf('api'), version: idOf('version'), metadata }
      const { name, api, status } = await imports.run(document, ids)
      return { item: name, api, status }
    },
  }
}

const FROM_URL = /^\s*\{\s*"url"\s*:/
const Link = z.strictObject({ url: z.string().max(2_048) })

/** The URL of a line; undefined if the line has a document. @throws Refusal invalid-request */
function urlIn(line: string): string | undefined {
  if (!FROM_URL.test(line)) return undefined
  try {
    return Link.parse(JSON.parse(line)).url
  } catch {
    throw invalidField('url', 'must be the only member of its line, with at most 2048 characters')
  }
}

const WRAPPED = /^\s*\{\s*"document"\s*:\s*/

/** The document of a line. Its JSON is not parsed, so that its bytes stay as they are. @throws Refusal document-invalid */
function textIn(line: string): string {
  const [prefix] = WRAPPED.exec(line) ?? []
  if (prefix === undefined) return line
  const document = line.slice(prefix.length, line.lastIndexOf('}')).trim()
  if (!document.startsWith('"')) return document
  try {
    return String(JSON.parse(document))
  } catch {
    throw new Refusal('document-invalid', { detail: 'the line is not JSON' })
  }
}

function statusOf({ api, version, document }: ImportPlan) {
  if (api.action === 'CREATE') return 'CREATED'
  return [api, version, document].every(({ action }) => action === 'NONE') ? 'UNCHANGED' : 'UPDATED'
}
