import type { IncomingHttpHeaders } from 'node:http'
import { type ApiRecord, importApi, Refusal } from '@gantry/contracts'
import {
  type AddRoute,
  charsetOf,
  isGzip,
  type NamesOf,
  readBody,
  type Service,
} from '@gantry/service-runtime'
import type { Collection } from '@gantry/stores'
import { type ApiDocument, snapshotOf } from '../api/api.projection.ts'
import type { RequestJob } from '../job/job.routes.ts'
import { isNdjson, linesIn } from './import.lines.ts'
import type { ApiImports, GivenDocument } from './imports.ts'

/** An HTTP app to which routes are added. */
export type App = Parameters<Service['routes']>[0]

export interface ImportRoutes {
  imports: ApiImports
  apis: Collection<ApiDocument>
  namesOf: NamesOf
  requestJob: RequestJob
}

/** @param route adds a route to `app`, whose bodies are documents of any type */
export function importRoutes(
  app: App,
  route: AddRoute,
  { imports, apis, namesOf, requestJob }: ImportRoutes,
): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', readBody)
  route(importApi, async ({ query, creationMetadata: metadata, newId, request }) => {
    const document = documentIn(request)
    const dryRun = query.dryRun === true
    if (isNdjson(request.headers['content-type']))
      return requestJob({
        id: newId(),
        task: { type: 'IMPORT', dryRun },
        items: await linesIn(document),
        metadata,
      })
    if (dryRun) return { status: 200, body: await imports.plan(document, metadata) }
    const { api, status } = await imports.run(document, { api: newId(), version: newId(), metadata })
    const body = await record(api)
    return status === 'CREATED' ? { status: 201, body, location: `/apis/${api}` } : { status: 200, body }
  })

  const record = async (id: string): Promise<ApiRecord> => {
    const doc = (await apis.get(id))?.doc
    if (!doc) throw new Refusal('api-not-found')
    const owner = (await namesOf([doc.owner])).get(doc.owner ?? '')
    return { ...snapshotOf(doc), ownerDisplayName: owner && !owner.deleted ? owner.displayName : null }
  }
}

/** @throws Refusal unsupported-media-type */
function documentIn({ body, headers }: { body: unknown; headers: IncomingHttpHeaders }): GivenDocument {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
  return { bytes, isGzip: isGzip(headers), charset: charsetOf(headers['content-type']) }
}
