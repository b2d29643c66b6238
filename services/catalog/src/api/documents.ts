import { type ApiRecord, relationOf, type requests } from '@gantry/contracts'
import type { Moments } from '@gantry/service-runtime'
import type { z } from 'zod'
import type { ApiDocument, VersionDocument } from './api.projection.ts'

type IncludedDocument = NonNullable<ApiRecord['documents']>[number]
type Documented = typeof requests.documentedApis

/** Versions that are read together. */
const MANY = 1_000
/** Links of a response. A client reads at most 16 KiB of headers. */
const MOST_LINKS = 40

/** The documents of all versions, by API. @param at ISO 8601; undefined for now */
export async function documentsOf(
  versions: Moments<VersionDocument>,
  ids: string[],
  at?: string,
): Promise<Map<string, IncludedDocument[]>> {
  const moment = await versions.at(at, ids.length === 1 ? ids[0] : undefined)
  const where = { api: { in: ids }, documented: true }
  const found = new Map<string, IncludedDocument[]>()
  for (let skip = 0, more = ids.length > 0; more; skip += MANY) {
    const listed = await moment.list({
      where,
      sort: [{ field: 'name', direction: 'asc' }],
      skip,
      limit: MANY,
    })
    for (const { doc } of listed)
      found.set(doc.api, [
        ...(found.get(doc.api) ?? []),
        ...doc.documents.map(document => ({ version: doc.id, ...document })),
      ])
    more = listed.length === MANY
  }
  return found
}

/** A header with links to documents, the primary ones first (RFC 8288); none without documents. */
export function linksTo<Document extends Pick<IncludedDocument, 'kind' | 'primary'>>(
  documents: readonly Document[],
  pathOf: (document: Document) => string,
): Record<string, string> {
  const links = documents
    .toSorted((a, b) => Number(b.primary) - Number(a.primary))
    .slice(0, MOST_LINKS)
    .map(document => `<${pathOf(document)}>; rel="${relationOf(document.kind)}"`)
  return links.length > 0 ? { link: links.join(', ') } : {}
}

/** Answers the request for a page of APIs with their documents. */
export async function documentedApis(
  { apis, versions }: { apis: Moments<ApiDocument>; versions: Moments<VersionDocument> },
  { page, size, active }: z.infer<Documented['asked']>,
): Promise<z.infer<Documented['answer']>> {
  const { items, total } = await (await apis.at(undefined)).find({
    where: active ? { status: 'ACTIVE' } : {},
    sort: [{ field: 'name', direction: 'asc' }],
    skip: (page - 1) * size,
    limit: size,
  })
  const ids = items.map(({ doc }) => doc.id)
  const documents = await documentsOf(versions, ids)
  return { total, apis: ids.map(id => ({ id, documents: documents.get(id) ?? [] })) }
}
