import { z } from 'zod'

const DOCUMENT_KINDS = [
  'openapi',
  'asyncapi',
  'graphql',
  'protobuf',
  'wsdl',
  'postman',
  'json-schema',
  'markdown',
  'other',
] as const
export const DocumentKind = z.enum(DOCUMENT_KINDS).meta({ id: 'DocumentKind' })
export type DocumentKind = z.infer<typeof DocumentKind>

export const DocumentCounts = z
  .object({ operations: z.int(), schemas: z.int() })
  .meta({ id: 'PublishedDocumentCounts', outputId: 'DocumentCounts' })

export const FindingCounts = z
  .object({ errors: z.int(), warnings: z.int() })
  .meta({ id: 'PublishedFindingCounts', outputId: 'FindingCounts' })
