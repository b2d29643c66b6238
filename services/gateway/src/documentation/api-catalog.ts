import {
  getApiCatalog,
  LINKSET_MEDIA_TYPE,
  type Linkset,
  type Parsed,
  relationOf,
  requests,
} from '@gantry/contracts'
import {
  type Admit,
  ANONYMOUS,
  callerOf,
  checkQuery,
  isAnonymous,
  type Peers,
  routeOf,
} from '@gantry/service-runtime'
import type { FastifyInstance } from 'fastify'

/** Adds `GET /.well-known/api-catalog` (RFC 9727): a page of APIs with links to their documents. */
export function apiCatalogRoute(
  app: FastifyInstance,
  { admit, peers, publicUrl }: { admit: Admit; peers: Pick<Peers, 'ask'>; publicUrl: string | undefined },
): void {
  app.route({
    ...routeOf(getApiCatalog, admit),
    async handler(request, reply) {
      const { page, size } = checkQuery(getApiCatalog.query, request.query) as Page
      const active = isAnonymous(callerOf(request) ?? ANONYMOUS)
      const { total, apis } = await peers.ask(requests.documentedApis, { page, size, active })
      const root = publicUrl ?? `${request.protocol}://${request.host}${app.prefix}`
      const self = `${root}${getApiCatalog.path}`
      const next = page * size < total ? `, <${self}?page=${page + 1}&size=${size}>; rel="next"` : ''
      const body: Linkset = { linkset: apis.map(api => linksOf(root, api)) }
      return reply
        .headers({ 'content-type': LINKSET_MEDIA_TYPE, link: `<${self}>; rel="api-catalog"${next}` })
        .send(Buffer.from(JSON.stringify(body)))
    },
  })
}

type Page = Parsed<NonNullable<typeof getApiCatalog.query>>
type DocumentedApi = (typeof requests.documentedApis.answer)['_output']['apis'][number]

function linksOf(root: string, { id, documents }: DocumentedApi): Linkset['linkset'][number] {
  const anchor = `${root}/apis/${id}`
  const links: Linkset['linkset'][number] = { anchor }
  for (const { version, name, kind } of documents) {
    const href = `${anchor}/versions/${version}/documents/${name}`
    const relation = relationOf(kind)
    links[relation] = [...(links[relation] ?? []), { href, title: name }]
  }
  return links
}
