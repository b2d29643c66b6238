import { Readable } from 'node:stream'
import {
  type BrokenRule,
  type DocumentFinding,
  type DocumentRecord,
  deleteDocument,
  downloadDocument,
  listDocuments,
  listFindings,
  listOperations,
  listVersionOperations,
  type OperationQuery,
  putDocument,
  Refusal,
} from '@gantry/contracts'
import type { Executed } from '@gantry/event-sourcing'
import {
  type AddRoute,
  ifMatchTags,
  isAnonymous,
  listing,
  type Moments,
  matchesNone,
  page,
  retainBody,
} from '@gantry/service-runtime'
import type { Collection } from '@gantry/stores'
import type { FastifyRequest } from 'fastify'
import { totalsOf } from '../check/schema.ts'
import { type Comparisons, diffRoute } from './diff.ts'
import { type DocumentsAggregate, type Precondition, requirePlace } from './document.decide.ts'
import { type DocumentDocument, recordOf } from './document.projection.ts'
import { type DocumentEvent, type DocumentsState, documentIn, idOf } from './document.ts'
import { type DocumentUploads, receiveDocument } from './document.upload.ts'
import type { OperationDocument } from './operations.projection.ts'

/** A version that a caller has named by id or name. */
interface NamedVersion {
  api_id: string
  version_id: string
}

/** What enabled rule sets found in a document, and how often. */
export interface FoundByRules {
  findings: DocumentFinding[]
  rules: BrokenRule[]
  /** Whether a rule set found more than is kept. */
  truncated: boolean
}

/** What rule sets found in documents. */
interface RuleFindings {
  /** Scores by the ids of documents; those without one are left out. */
  scores(documents: readonly DocumentDocument[]): Promise<Map<string, number>>
  findings(document: DocumentDocument): Promise<FoundByRules>
}

export interface DocumentRoutes extends DocumentUploads {
  aggregate: DocumentsAggregate
  documents: Moments<DocumentDocument>
  operations: Collection<OperationDocument>
  comparisons: Comparisons
  rules: RuleFindings
  /**
   * The id of a version of an API, now or at a time.
   * @param active whether an API that is not ACTIVE counts as missing
   * @throws Refusal api-not-found, version-not-found
   */
  findVersion(api: string, idOrName: string, at?: string, active?: boolean): Promise<string>
  /** Makes the change visible to readers of operations, and sends it to other services without delay. */
  announce(api: string, document: string, executed: Executed<DocumentsState, DocumentEvent>): Promise<void>
  /** Maximum number of documents of a version. */
  limit: number
  /** Bytes that were replaced or deleted before this time, ISO 8601 UTC, are no longer kept. */
  keptSince(): string
}

const PIECE_BYTES = 262_144
/** Time until a change has to be appended, so that the gateway still waits for the answer, and that of its comparison. */
const CHANGE_MS = 46_000
const COMPARISON_MS = 10_000

async function* rest(first: Buffer | undefined, others: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  if (first) yield first
  yield* others
}

/** No document is a page: browsers must not run scripts in it or guess its type. */
const INERT = {
  'content-security-policy': "sandbox; default-src 'none'",
  'x-content-type-options': 'nosniff',
  'cache-control': 'private, no-cache',
}

/** @param upload adds a route whose body is a document */
export function documentRoutes(route: AddRoute, upload: AddRoute, media: DocumentRoutes): void {
  const { aggregate, documents, findVersion, announce, limit, rules } = media
  const find = finding(media)
  downloadRoute(route, media, find)
  diffRoute(route, media.comparisons, find)

  route(listDocuments, async ({ params: { api_id: api, version_id }, query }) => {
    const apiVersion = await findVersion(api, version_id, query.at)
    const moment = await documents.at(query.at, api)
    const { items, total } = await moment.find(listing(query, { api, apiVersion }))
    const found = items.map(({ doc }) => doc)
    const scores = query.at === undefined ? await rules.scores(found) : new Map<string, number>()
    const content = found.map(doc => ({ ...recordOf(doc), score: scores.get(doc.id) ?? null }))
    return { status: 200, body: page(content, total, query) }
  })

  upload(putDocument, async ({ params, query, metadata, request }) => {
    const { api_id: api, name } = params
    const version = await findVersion(api, params.version_id)
    const place = { version, condition: conditionOf(request), limit }
    // Checked again with the append. An earlier try of a repeated request may have stored the document.
    if (!metadata.repeated) requirePlace((await aggregate.load(api)).state, { ...place, name })
    const deadline = performance.now() + CHANGE_MS
    const work = receiveDocument(request, { name, kind: query.kind }, media)
    const content = await retainBody(request, work)
    const left = Math.min(deadline - performance.now(), COMPARISON_MS)
    const breaking = await media.comparisons.breaks({ api, version }, content, left)
    const primary = query.primary === true
    const command = { type: 'UploadDocument', metadata, api, ...place, content, primary, breaking } as const
    const executed = await aggregate.execute(api, command)
    await announce(api, idOf(version, name), executed)
    const record = documentIn(executed.state, version, name)
    if (!record) throw new Refusal('write-conflict')
    const id = idOf(version, name)
    const scores = await rules.scores([{ id, api, apiVersion: version, ...record }])
    const body = { ...record, score: scores.get(id) ?? null }
    const headers = { etag: tagOf(body) }
    const isNew = executed.facts.some(({ metadata: { change } }) => change?.before === null)
    if (!isNew) return { status: 200, body, headers }
    return { status: 201, body, headers, location: `/apis/${api}/versions/${version}/documents/${name}` }
  })

  route(deleteDocument, async ({ params, metadata, request }) => {
    const { api_id: api, name } = params
    const version = await findVersion(api, params.version_id)
    const condition = conditionOf(request)
    const command = { type: 'DeleteDocument', metadata, api, version, name, condition } as const
    await announce(api, idOf(version, name), await aggregate.execute(api, command))
    return { status: 204 }
  })

  findingsRoute(route, media, find)
  operationRoutes(route, media)
}

/** Finds the document that a caller has named. */
export function finding({ documents, findVersion }: Pick<DocumentRoutes, 'documents' | 'findVersion'>) {
  /** @throws Refusal api-not-found, version-not-found, document-not-found */
  return async (
    { api_id: api, version_id }: NamedVersion,
    name: string,
    at?: string,
  ): Promise<DocumentDocument> => {
    const moment = await documents.at(at, api)
    // The catalog is asked only for a name, and to refuse.
    const byId = await moment.get(idOf(version_id.toLowerCase(), name))
    if (byId?.doc.api === api) return byId.doc
    const stored = await moment.get(idOf(await findVersion(api, version_id, at), name))
    if (!stored) throw new Refusal('document-not-found')
    return stored.doc
  }
}

function findingsRoute(
  route: AddRoute,
  { contents, rules }: Pick<DocumentRoutes, 'contents' | 'rules'>,
  find: ReturnType<typeof finding>,
): void {
  route(listFindings, async ({ params, query, principal }) => {
    const document = await find(params, params.name)
    const ofSchema = (await contents.of(document)).findings.map(one => ({ ...one, ruleSet: null }))
    const isGoverned = principal.scopes.includes('READ_GOVERNANCE_DATA')
    const { findings, truncated, ...applied } = isGoverned
      ? await rules.findings(document)
      : { findings: [], truncated: false, rules: [] }
    const all = [...ofSchema, ...findings].toSorted(
      (a, b) =>
        Number(a.severity !== 'ERROR') - Number(b.severity !== 'ERROR') || (a.line ?? 0) - (b.line ?? 0),
    )
    const from = (query.page - 1) * query.size
    const shown = page(all.slice(from, from + query.size), all.length, query)
    const broken = totalsOf(ofSchema).map(rule => ({ ...rule, ruleSet: null }))
    return { status: 200, body: { ...shown, rules: [...broken, ...applied.rules], truncated } }
  })
}

function downloadRoute(
  route: AddRoute,
  { bytes, documents, findVersion, keptSince }: DocumentRoutes,
  find: ReturnType<typeof finding>,
): void {
  /** Whether the bytes of an earlier time were replaced before those that are kept. */
  const isGone = async ({ id, api, sha256 }: DocumentDocument, at: string) => {
    const since = keptSince()
    return at < since && (await (await documents.at(since, api)).get(id))?.doc.sha256 !== sha256
  }

  /** Callers without credentials read the present documents of ACTIVE APIs. */
  const requireOpen = async ({ api_id, version_id }: NamedVersion, at: string | undefined) => {
    if (at !== undefined)
      throw new Refusal('unauthenticated', { detail: 'Earlier documents can be read with credentials only' })
    await findVersion(api_id, version_id, undefined, true)
  }

  route(downloadDocument, async ({ params, query: { at }, request, principal }) => {
    if (isAnonymous(principal)) await requireOpen(params, at)
    const document = await find(params, params.name, at)
    const { sha256, size, mediaType, name } = document
    if (at !== undefined && (await isGone(document, at)))
      throw new Refusal('document-gone', { detail: `the bytes of this time are not kept: ${sha256}`, sha256 })
    const tag = tagOf(document)
    const headers = { ...INERT, etag: tag, 'accept-ranges': 'bytes' }
    if (matchesNone(request.headers['if-none-match'], tag)) return { status: 304, headers }
    const range = rangeOf(request, size, tag)
    if (range === 'outside')
      throw new Refusal('range-not-satisfiable', { headers: { 'content-range': `bytes */${size}` } })
    const [from, to] = range ?? [0, size - 1]
    const described = {
      ...headers,
      'content-type': mediaType,
      'content-length': String(to - from + 1),
      'content-disposition': `inline; filename="${name}"`,
    }
    const pieces = piecesOf(sha256, from, to + 1)
    // The first piece is read before the response begins, because the bytes may be lost.
    const { value: first } = await pieces.next()
    const isRead = request.method !== 'HEAD' && to - from >= PIECE_BYTES
    // The length of a response to HEAD is that of the header only if its body is a stream.
    const body =
      request.method === 'HEAD' ? Readable.from([]) : isRead ? Readable.from(rest(first, pieces)) : first
    if (!range) return { status: 200, headers: described, body }
    return { status: 206, headers: { ...described, 'content-range': `bytes ${from}-${to}/${size}` }, body }
  })

  /** Reads stored bytes piece by piece, so that a download takes little memory. */
  async function* piecesOf(sha256: string, from: number, to: number): AsyncGenerator<Buffer, undefined> {
    for (let at = from; at < to; at += PIECE_BYTES)
      yield await bytes.get(sha256, { from: at, to: Math.min(to, at + PIECE_BYTES) })
  }
}

function operationRoutes(route: AddRoute, { operations, findVersion }: DocumentRoutes): void {
  const found = async (query: OperationQuery, version?: string) => {
    const { q, method, tag, deprecated } = query
    const where = {
      version,
      method: method?.toUpperCase(),
      deprecated,
      tags: tag?.length ? { all: tag } : undefined,
    }
    const { items, total } = await operations.find(listing({ ...query, text: q }, where))
    const content = items.map(({ doc: { id, ...operation } }) => operation)
    return page(content, total, query)
  }
  route(listVersionOperations, async ({ params: { api_id, version_id }, query }) => ({
    status: 200,
    body: await found(query, await findVersion(api_id, version_id)),
  }))
  route(listOperations, async ({ query }) => ({ status: 200, body: await found(query) }))
}

const tagOf = ({ sha256 }: DocumentRecord) => `"${sha256}"`

/** The entity tags of documents are hashes of their content. Weak tags match nothing (RFC 9110 §13.1.1). */
function conditionOf({ headers }: FastifyRequest): Precondition {
  const { 'if-match': match, 'if-none-match': none } = headers
  return {
    ifMatch: match?.trim() === '*' ? '*' : ifMatchTags(match)?.map(tag => tag.replaceAll('"', '')),
    ifAbsent: none?.trim() === '*',
  }
}

/**
 * The first and the last byte that a request asks for (RFC 9110 §14.1.2); undefined for the whole, which also answers
 * HEAD, several ranges, other units and a range of an earlier content.
 */
function rangeOf(
  { method, headers }: FastifyRequest,
  size: number,
  tag: string,
): [number, number] | 'outside' | undefined {
  const { range, 'if-range': condition } = headers
  if (method !== 'GET' || range === undefined) return undefined
  if (condition !== undefined && condition !== tag) return undefined
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(range.trim()) ?? []
  if (first === '' && last === '') return undefined
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined
  const from = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const to = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  return from >= size || (first === '' && Number(last) === 0) ? 'outside' : [from, to]
}
