import { compareDocument, type DocumentRecord, Refusal } from '@gantry/contracts'
import type { Log } from '@gantry/event-sourcing'
import type { AddRoute } from '@gantry/service-runtime'
import type { StoredBytes } from '../bytes/bytes.ts'
import { DocumentInvalid } from '../check/checked.ts'
import type { Comparison } from '../compare/changes.ts'
import type { Checker } from './checker.ts'
import type { DocumentsAggregate } from './document.decide.ts'
import type { DocumentDocument } from './document.projection.ts'
import { type DocumentsState, documentIn } from './document.ts'
import { refused } from './document.upload.ts'

/** The properties of a stored document that a comparison needs. */
type Stored = Pick<DocumentRecord, 'sha256' | 'size' | 'kind'>

type Earlier = DocumentRecord & Pick<DocumentDocument, 'apiVersion'>

export interface Comparisons {
  /** Tells what changed. @throws DocumentInvalid, BytesLost, Refusal too-many-checks */
  diff(before: Stored, after: Stored, lastsMs?: number): Promise<Comparison>
  /** The document of a name in the version that was created last before another one, of those that have one. */
  before(api: string, version: string, name: string): Promise<Earlier | undefined>
  /** Whether a document breaks clients of the one before; undefined if that cannot be told within `lastsMs` milliseconds. */
  breaks(
    place: { api: string; version: string },
    document: Stored & { name: string },
    lastsMs: number,
  ): Promise<boolean | undefined>
}

export interface ComparisonsOptions {
  log: Log
  aggregate: Pick<DocumentsAggregate, 'load'>
  bytes: Pick<StoredBytes, 'get'>
  checker: Pick<Checker, 'compare'>
  /** The versions before another one, the last one first. */
  versionsBefore(api: string, version: string): Promise<readonly string[]>
}

export function comparisons({
  log,
  aggregate,
  bytes,
  checker,
  versionsBefore,
}: ComparisonsOptions): Comparisons {
  const reading = ({ sha256, size, kind }: Stored) => ({ size, kind, read: () => bytes.get(sha256) })

  const diff: Comparisons['diff'] = async (before, after, lastsMs) => {
    if (before.sha256 === after.sha256 && before.kind === after.kind)
      return { breaking: false, changes: [], truncated: false }
    return checker.compare(reading(before), reading(after), lastsMs)
  }

  const beforeIn: Comparisons['before'] = async (api, version, name) => {
    const { state } = await aggregate.load(api)
    if (!hasOther(state, version, name)) return undefined
    for (const id of await versionsBefore(api, version)) {
      const document = documentIn(state, id, name)
      if (document) return { ...document, apiVersion: id }
    }
    return undefined
  }

  return {
    diff,
    before: beforeIn,
    async breaks({ api, version }, document, lastsMs) {
      try {
        const before = lastsMs > 0 ? await beforeIn(api, version, document.name) : undefined
        return before && ((await diff(before, document, lastsMs)).breaking ?? undefined)
      } catch (error) {
        // An upload does not depend on a comparison: catalog may be of a release that does not know the order of versions.
        log.warn(
          { err: error, api, version, name: document.name },
          'a document was stored without a comparison',
        )
        return undefined
      }
    },
  }
}

/** Whether another version has a document of a name: only then the catalog is asked for their order. */
const hasOther = ({ versions }: DocumentsState, version: string, name: string) =>
  [...versions].some(([id, documents]) => id !== version && documents?.some(one => one.name === name))

/** @param find the document that a caller has named */
export function diffRoute(
  route: AddRoute,
  { diff, before }: Comparisons,
  find: (named: { api_id: string; version_id: string }, name: string) => Promise<DocumentDocument>,
): void {
  route(compareDocument, async ({ params, query: { from, fromDocument } }) => {
    const { api_id, name } = params
    const after = await find(params, name)
    const earlier = fromDocument ?? name
    const named =
      from === undefined
        ? await before(after.api, after.apiVersion, earlier)
        : await find({ api_id, version_id: from }, earlier)
    if (!named)
      throw new Refusal('document-not-found', { detail: `no earlier version has a document ${earlier}` })
    try {
      const from = { version: named.apiVersion, document: named.name }
      return { status: 200, body: { ...(await diff(named, after)), from } }
    } catch (error) {
      throw error instanceof DocumentInvalid ? refused(error.errors) : error
    }
  })
}
