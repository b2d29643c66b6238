import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { answer, client } from '../../http/client.ts'
import type { Query, Schemas } from '../../http/schemas.ts'

export type DocumentRecord = Schemas['Document']
export type Version = Schemas['Version']

/** A version of an API, as parameters of requests. */
export interface VersionPath {
  api_id: string
  version_id: string
}

const PAGE_SIZE = 100
/** A read document may have 20 MiB. */
const TEXT_KEPT_MS = 30_000

/** The versions of an API, newest first. */
export const newestVersionsQuery = (api: string) =>
  queryOptions({
    queryKey: ['api', api, 'newest versions'],
    queryFn: ({ signal }) =>
      answer(client.listVersions({ api_id: api, sort: ['createdAt,desc'], size: PAGE_SIZE }, { signal })),
  })

/** What the documents of all versions are. */
export const attachedDocumentsQuery = (api: string) =>
  queryOptions({
    queryKey: ['api', api, 'attached documents'],
    queryFn: async ({ signal }) => {
      const { documents = [] } = await answer(
        client.getApi({ api_id: api, includeDocuments: true }, { signal }),
      )
      return documents
    },
  })

/** The primary one of some documents, or else the first. */
export const primaryOf = <Document extends { primary: boolean }>(
  documents: readonly Document[],
): Document | undefined => documents.find(({ primary }) => primary) ?? documents[0]

/** Kinds that rule sets are for. */
const SCORED: readonly DocumentRecord['kind'][] = ['openapi', 'asyncapi']
/** How long after its upload a document without a score may be waiting for one: without a rule set it gets none. */
const SCORED_WITHIN_MS = 60_000
const SCORE_POLL_MS = 2_000

/** Whether the rule sets are probably being applied to a document. */
export const awaitsScore = ({ kind, score, updatedAt }: DocumentRecord): boolean =>
  score === null && SCORED.includes(kind) && Date.now() - Date.parse(updatedAt) < SCORED_WITHIN_MS

/** The documents of a version: at most as many as a page has. They are read again until they have a score. */
export const documentsQuery = (path: VersionPath) =>
  queryOptions({
    queryKey: ['api', path.api_id, 'documents', path.version_id],
    queryFn: ({ signal }) => answer(client.listDocuments({ ...path, size: PAGE_SIZE }, { signal })),
    refetchInterval: ({ state: { data } }) => (data?.content.some(awaitsScore) ? SCORE_POLL_MS : false),
  })

/** Reads the bytes of a document. @throws ProblemError or ConnectionError */
export async function readBytes(path: VersionPath, name: string, signal?: AbortSignal): Promise<ArrayBuffer> {
  const { body } = await client.downloadDocument({ ...path, name }, { signal })
  return new Response(body).arrayBuffer()
}

/** Whether the console shows a document: it is text, and its kind is known. */
export const isShown = ({ kind, mediaType }: Pick<DocumentRecord, 'kind' | 'mediaType'>): boolean =>
  kind !== 'other' && !mediaType.includes('zip')

/** The text of a document. Its hash identifies the content, which does not change. */
export const textQuery = (path: VersionPath, { name, sha256 }: DocumentRecord) =>
  queryOptions({
    queryKey: ['api', path.api_id, 'document text', path.version_id, name, sha256],
    queryFn: async ({ signal }) => textOf(await readBytes(path, name, signal)),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: TEXT_KEPT_MS,
  })

/** The text in bytes: UTF-8, or UTF-16 with a byte order mark. */
export function textOf(bytes: ArrayBuffer): string {
  const [first, second] = new Uint8Array(bytes, 0, Math.min(2, bytes.byteLength))
  const mark = first === 0xff && second === 0xfe ? 'utf-16le' : undefined
  return new TextDecoder(first === 0xfe && second === 0xff ? 'utf-16be' : (mark ?? 'utf-8')).decode(bytes)
}

/** All findings in a document that are kept, and how often each rule is broken. They change with the rules, as the score does. */
export const findingsQuery = (path: VersionPath, { name, sha256, score }: DocumentRecord) =>
  queryOptions({
    queryKey: ['api', path.api_id, 'findings', path.version_id, name, sha256, score],
    queryFn: async ({ signal }) => {
      const read = (page: number) =>
        answer(client.listFindings({ ...path, name, page, size: PAGE_SIZE }, { signal }))
      const { content, rules, totalPages } = await read(1)
      for (let page = 2; page <= totalPages; page++) content.push(...(await read(page)).content)
      return { content, rules }
    },
  })

/** What a document is compared with. */
export interface Compared {
  /** Id of the version. Default: the one created last before it that has a document of the same name. */
  from?: string | undefined
  /** Name of its document. Default: the same. */
  fromDocument?: string | undefined
}

/** What changed in a document since another one. */
export const changesQuery = (path: VersionPath, { name, sha256 }: DocumentRecord, compared: Compared) =>
  queryOptions({
    queryKey: ['api', path.api_id, 'changes', path.version_id, name, sha256, compared],
    queryFn: ({ signal }) => answer(client.compareDocument({ ...path, name, ...compared }, { signal })),
  })

/** The operations in the documents of a version. */
export const operationsQuery = (
  path: VersionPath,
  query: Omit<Query<'listVersionOperations'>, keyof VersionPath>,
) =>
  queryOptions({
    queryKey: ['api', path.api_id, 'operations', path.version_id, query],
    queryFn: ({ signal }) => answer(client.listVersionOperations({ ...path, ...query }, { signal })),
    placeholderData: keepPreviousData,
  })
