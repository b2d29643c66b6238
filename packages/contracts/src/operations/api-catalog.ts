import { z } from 'zod'
import type { DocumentKind } from './document-kinds.ts'
import { operation } from './operation.ts'
import { integer } from './primitives.ts'

const Links = z.array(z.object({ href: z.string(), title: z.string().optional() }).meta({ id: 'Link' }))

/** A set of links as JSON (RFC 9264 §4.2). */
export const Linkset = z
  .object({
    linkset: z.array(
      z
        .object({
          anchor: z.string().meta({ description: 'URL of the API' }),
          'service-desc': Links.optional().meta({ description: 'Descriptions for machines (RFC 8631)' }),
          'service-doc': Links.optional().meta({ description: 'Documentation for people (RFC 8631)' }),
          related: Links.optional().meta({ description: 'Other documents' }),
        })
        .meta({ id: 'ApiLinks' }),
    ),
  })
  .meta({ id: 'ApiCatalog' })
export type Linkset = z.infer<typeof Linkset>

/** The relation of a version to a document (RFC 8631). */
export function relationOf(kind: DocumentKind): 'service-desc' | 'service-doc' | 'related' {
  if (kind === 'other') return 'related'
  return kind === 'markdown' ? 'service-doc' : 'service-desc'
}

/** RFC 9727 §4 */
export const LINKSET_MEDIA_TYPE =
  'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'

export const getApiCatalog = operation('getApiCatalog', 'GET /.well-known/api-catalog', {
  service: 'gateway',
  tag: 'Apis',
  summary: 'Read the catalogue as links for crawlers',
  description:
    'The API catalog of RFC 9727: each API with links to the documents of its versions, in the order of the names. `Link` leads to the next page. With `PUBLIC_CATALOG` it needs no credentials; without them it has ACTIVE APIs only.',
  scope: 'API_READ',
  crawled: true,
  query: z.object({
    page: integer(1, 999_999_999, 1, 'Page number, from 1'),
    size: integer(1, 1_000, 100, 'APIs on a page'),
  }),
  responses: {
    200: {
      description: 'A page of the catalogue',
      alternatives: { 'application/linkset+json': Linkset },
      headers: { Link: 'The first page as `api-catalog`, and the next page as `next` (RFC 8288)' },
      example: {
        linkset: [
          {
            anchor: 'https://gantry.example.com/apis/7d1f2c56-9a43-4c1e-8f6b-0e5d3a2b1c90',
            'service-desc': [
              {
                href: 'https://gantry.example.com/apis/7d1f2c56-9a43-4c1e-8f6b-0e5d3a2b1c90/versions/0b7e/documents/openapi.yaml',
                title: 'openapi.yaml',
              },
            ],
          },
        ],
      },
    },
  },
})
