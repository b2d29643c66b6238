import { createHash } from 'node:crypto'
import { documentTooLarge, MAX_DOCUMENT_BYTES, Refusal, requests } from '@gantry/contracts'
import type { Executed } from '@gantry/event-sourcing'
import { gunzipped, type Responder, responder, Slots } from '@gantry/service-runtime'
import { DocumentInvalid } from '../check/checked.ts'
import type { Comparisons } from './diff.ts'
import type { DocumentsAggregate } from './document.decide.ts'
import { type DocumentEvent, type DocumentsState, documentIn, idOf } from './document.ts'
import { type DocumentUploads, documentContent, refused } from './document.upload.ts'

export interface DocumentImports extends DocumentUploads {
  aggregate: DocumentsAggregate
  announce(api: string, document: string, executed: Executed<DocumentsState, DocumentEvent>): Promise<void>
  comparisons: Pick<Comparisons, 'breaks'>
  /** Maximum number of documents of a version. */
  limit: number
  now(): Date
}

/** Documents in memory at the same time: each may take 20 MiB, and as much again while it is checked. */
const AT_ONCE = 2
const WAIT_MS = 5_000
/** Catalog waits for 17 s for each of two tries. */
const CHECK_MS = 16_000

/** Catalog waits for an attached document for 10 s, in two tries. */
const COMPARISON_MS = 3_000

/** The requests of catalog, which imports APIs from documents. */
export function importResponders(imports: DocumentImports): Responder[] {
  const { aggregate, announce, comparisons, limit, now } = imports
  const slots = new Slots(AT_ONCE)

  return [
    responder(requests.receiveDocument, async ({ gzip, charset }) => {
      const slot = await slots.take(undefined, { waitMs: WAIT_MS })
      if (!slot) throw new Refusal('too-many-checks')
      try {
        const document = await gunzipped(Buffer.from(gzip, 'base64'), MAX_DOCUMENT_BYTES, documentTooLarge)
        return await receive(imports, document, charset)
      } finally {
        slot.release()
      }
    }),
    responder(requests.attachDocument, async ({ api, version, document, dryRun, metadata: given }) => {
      const { state } = await aggregate.load(api)
      const before = documentIn(state, version, document.name)
      const action = before ? ('UPDATE' as const) : ('CREATE' as const)
      if (dryRun) return { action: before?.sha256 === document.sha256 ? ('NONE' as const) : action }
      const metadata = { ...given, now: now().toISOString() }
      const place = { version, condition: {}, limit }
      const breaking = await comparisons.breaks({ api, version }, document, COMPARISON_MS)
      const command = {
        type: 'UploadDocument',
        metadata,
        api,
        ...place,
        content: document,
        breaking,
      } as const
      const executed = await aggregate.execute(api, { ...command, primary: false })
      await announce(api, idOf(version, document.name), executed)
      return { action: executed.facts.length > 0 ? action : ('NONE' as const) }
    }),
  ]
}

/** Checks a document, and stores its bytes. @throws Refusal document-invalid, too-many-checks */
async function receive(
  { bytes, checker, contents, strict }: DocumentUploads,
  document: Buffer,
  charset: string | undefined,
) {
  const size = document.length
  const sha256 = createHash('sha256').update(document).digest('hex')
  try {
    // A copy: the thread of the check takes the memory of what it gets.
    const read = async () => Uint8Array.from(document)
    const checked = await checker.check({ size, read, lastsMs: CHECK_MS }, { charset, mustParse: true })
    const { name, ...received } = documentContent({ name: '', size, sha256 }, checked, strict)
    await bytes.put(sha256, document)
    await contents.keep(sha256, checked)
    const { about = { name: null, provider: null, service: null, description: null } } = checked
    return { document: received, about }
  } catch (error) {
    throw error instanceof DocumentInvalid ? refused(error.errors) : error
  }
}
