import { z } from 'zod'
import { DocumentCounts, DocumentKind, FindingCounts } from './document-kinds.ts'
import { operation } from './operation.ts'
import { flag, listOf, pageOf, paging, pastTime, Timestamp, text } from './primitives.ts'
import { Refusal } from './problems.ts'
import { VersionPath } from './versions.ts'

/** Maximum bytes of a document, after decompression. */
export const MAX_DOCUMENT_BYTES = 20 * 1_048_576

export const documentTooLarge = (): Refusal =>
  new Refusal('document-too-large', { detail: `a document may have at most ${MAX_DOCUMENT_BYTES} bytes` })

export const DocumentRecord = z.object({
  name: z.string(),
  kind: DocumentKind,
  mediaType: z.string(),
  size: z.int().meta({ description: 'Bytes' }),
  sha256: z.string().meta({ description: 'Hexadecimal. In double quotes it is the ETag of the document' }),
  primary: z
    .boolean()
    .meta({ description: 'Whether it describes the version; one document of a version does' }),
  title: z.string().nullable(),
  version: z.string().nullable().meta({ description: 'The version that the document names' }),
  counts: DocumentCounts,
  findings: FindingCounts,
  createdAt: Timestamp,
  updatedAt: Timestamp,
  updatedBy: z.string().nullable().meta({ description: 'Id of the user' }),
})
export type DocumentRecord = z.infer<typeof DocumentRecord>

/** The record with the score of now, which the log does not have. */
export const ScoredDocument = DocumentRecord.extend({
  score: z.int().min(0).max(100).nullable().meta({
    description:
      'From 100, of its findings: each broken rule takes 5 to 40 % (errors) or 1 to 10 % (warnings) of the points left, the more, the more places it has for each operation and schema. The errors of the schema count as one rule, and its warnings as another. Null for kinds without rules, with `at`, and until the rules are applied',
  }),
}).meta({ id: 'Document' })
export type ScoredDocument = z.infer<typeof ScoredDocument>

/** Where a document has a fault. Line and column are from 1; null where they are not known. */
const place = {
  line: z.int().nullable(),
  column: z.int().nullable(),
  pointer: z.string().nullable().meta({ description: 'JSON Pointer (RFC 6901); null for other syntaxes' }),
}

export const DocumentError = z.object({ ...place, message: z.string() }).meta({ id: 'DocumentError' })
export type DocumentError = z.infer<typeof DocumentError>

export const Finding = z.object({
  severity: z.enum(['ERROR', 'WARNING']).meta({ id: 'Severity' }),
  code: z.string().meta({ description: 'Stable, kebab-case; the name of the rule of a rule set' }),
  message: z.string(),
  ...place,
})
export type Finding = z.infer<typeof Finding>

export const DocumentFinding = Finding.extend({
  ruleSet: z
    .string()
    .nullable()
    .meta({ description: 'Name of the rule set; null for the schema of the kind' }),
}).meta({ id: 'Finding' })
export type DocumentFinding = z.infer<typeof DocumentFinding>

export const BrokenRule = DocumentFinding.pick({ ruleSet: true, code: true, severity: true })
  .extend({ places: z.int().meta({ description: 'Number of findings' }) })
  .meta({ id: 'BrokenRule' })
export type BrokenRule = z.infer<typeof BrokenRule>

const line = (document: string) =>
  z
    .int()
    .min(1)
    .nullable()
    .meta({
      description: `Line of the place in ${document}, or of the nearest value around it; null for other syntaxes than JSON and YAML`,
    })

export const DocumentChange = z
  .object({
    pointer: z.string().meta({
      description:
        'Place in the document: JSON Pointer, or name, or `line N` of other syntaxes; of what was removed, in the earlier one',
    }),
    level: z
      .enum(['BREAKING', 'COMPATIBLE', 'UNCLEAR'])
      .meta({ id: 'ChangeLevel' })
      .meta({ description: 'Whether clients of the earlier document keep working' }),
    message: z.string(),
    line: line('this document'),
    fromLine: line('the earlier document'),
  })
  .meta({ id: 'DocumentChange' })
export type DocumentChange = z.infer<typeof DocumentChange>

export const DocumentDiff = z
  .object({
    breaking: z.boolean().nullable().meta({
      description: 'Whether a change is BREAKING; null if none is, and one is UNCLEAR',
    }),
    changes: z.array(DocumentChange).meta({ description: 'At most 1,000: BREAKING first, then UNCLEAR' }),
    truncated: z.boolean().meta({ description: 'Whether there are more changes' }),
    from: z
      .object({
        version: z.uuid().meta({ description: 'Id of the version' }),
        document: z.string().meta({ description: 'Name of the document' }),
      })
      .meta({ id: 'ComparedDocument' })
      .meta({ description: 'The earlier document' }),
  })
  .meta({ id: 'DocumentDiff' })
export type DocumentDiff = z.infer<typeof DocumentDiff>

export const DescribedOperation = z
  .object({
    api: z.uuid(),
    version: z.uuid().meta({ description: 'Id of the version' }),
    document: z.string().meta({ description: 'Name of the document' }),
    method: z.string().meta({
      description:
        'Method; SEND or RECEIVE (AsyncAPI); QUERY, MUTATION or SUBSCRIPTION (GraphQL); RPC (Protobuf, WSDL)',
    }),
    path: z.string().meta({
      description:
        'Path; name of a webhook (OpenAPI); channel (AsyncAPI); type and field (GraphQL); service and method (Protobuf, WSDL)',
    }),
    operationId: z.string().nullable(),
    summary: z.string().nullable(),
    tags: z.array(z.string()),
    deprecated: z.boolean(),
  })
  .meta({
    id: 'Operation',
    example: {
      api: '5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10',
      version: '2f0a8a57-3c0d-4e42-a8f7-0f3f5a3b9b01',
      document: 'openapi.yaml',
      method: 'GET',
      path: '/payments/{id}',
      operationId: 'getPayment',
      summary: 'Get a payment',
      tags: ['payments'],
      deprecated: false,
    },
  })
export type DescribedOperation = z.infer<typeof DescribedOperation>

const DOCUMENT_NAME = '1 to 100 of A-Z a-z 0-9 . _ -, not beginning with a dot'
export const documentName = z
  .string()
  .regex(/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/, { error: `must be ${DOCUMENT_NAME}` })
  .meta({ description: DOCUMENT_NAME })
const DocumentPath = VersionPath.extend({ name: documentName })

const example: DocumentRecord = {
  name: 'openapi.yaml',
  kind: 'openapi',
  mediaType: 'application/vnd.oai.openapi+yaml;version=3.1',
  size: 2_048,
  sha256: 'a1'.repeat(32),
  primary: true,
  title: 'Payments',
  version: '1.2.0',
  counts: { operations: 12, schemas: 7 },
  findings: { errors: 0, warnings: 1 },
  createdAt: '2026-11-21T09:30:00.000Z',
  updatedAt: '2026-11-21T09:30:00.000Z',
  updatedBy: 'b7e6a1de-0c6b-4a0b-8f51-2b8d9a3c4e55',
}
export const documentExample = example
const finding: DocumentFinding = {
  severity: 'WARNING',
  code: 'operation-summary',
  message: 'Operation object should contain `summary` field.',
  line: 12,
  column: 7,
  pointer: '/paths/~1payments/get',
  ruleSet: 'Recommended',
}
const scored: ScoredDocument = { ...example, score: 88 }

const part = { service: 'media', tag: 'Documents' } as const
const path = '/apis/{api_id}/versions/{version_id}/documents/{name}'
const notFound = ['api-not-found', 'version-not-found', 'document-not-found'] as const

export const listDocuments = operation(
  'listDocuments',
  'GET /apis/{api_id}/versions/{version_id}/documents',
  {
    ...part,
    summary: 'List the documents of a version',
    scope: 'API_READ',
    params: VersionPath,
    query: z.object({
      ...paging(['name', 'kind', 'size', 'createdAt', 'updatedAt'], 'name,asc'),
      at: pastTime,
    }),
    responses: {
      200: { description: 'A page of documents', schema: pageOf(ScoredDocument, 'DocumentPage') },
    },
    problems: ['api-not-found', 'version-not-found'],
  },
)

export const putDocument = operation('putDocument', `PUT ${path}`, {
  ...part,
  summary: 'Create or replace a document of a version',
  description:
    'The body is the document, which is stored unchanged. Its content decides the kind, not its name or media type. `Content-Encoding: gzip` is undone. At most 20 MiB after that. A document of a known kind with wrong syntax is refused; what no kind claims, e.g. unfinished JSON without `openapi`, is stored as `other`. Violations of the schema of its kind become findings, or with `DOCUMENTS_STRICT` are refused. References to other files are not followed. Entity tags are the SHA-256 of the content in double quotes; `If-None-Match: *` creates only.',
  scope: 'API_WRITE',
  params: DocumentPath,
  query: z.object({
    primary: flag('Make it the primary document of the version. The first document is primary'),
    kind: DocumentKind.optional().meta({ description: 'Refuse content of another kind' }),
  }),
  body: z.any().meta({ override: { type: 'string', format: 'binary' } }),
  bodyMediaType: '*/*',
  bodyLimit: MAX_DOCUMENT_BYTES,
  responses: {
    200: { description: 'The document, which was there before', schema: ScoredDocument, example: scored },
    201: {
      description: 'The new document',
      schema: ScoredDocument,
      headers: { Location: 'Its path' },
      example: scored,
    },
  },
  problems: [
    'api-not-found',
    'version-not-found',
    'document-invalid',
    'document-too-large',
    'too-many-documents',
    'too-many-checks',
    'precondition-failed',
  ],
  conditional: true,
})

const content = { ETag: 'Strong entity tag of the content: its SHA-256', 'Accept-Ranges': 'bytes' }

export const downloadDocument = operation('downloadDocument', `GET ${path}`, {
  ...part,
  summary: 'Download a document',
  description:
    'The bytes as they were sent. A `Range` of bytes is answered with 206. With `at` the bytes of that time, which are kept for `DOCUMENT_RETENTION` after they were replaced. With `PUBLIC_CATALOG` the present documents of ACTIVE APIs need no credentials.',
  scope: 'API_READ',
  crawled: true,
  params: DocumentPath,
  query: z.object({ at: pastTime }),
  responses: {
    200: { description: 'The document', mediaTypes: ['*/*'], headers: content },
    206: {
      description: 'A range of it',
      mediaTypes: ['*/*'],
      headers: { ...content, 'Content-Range': 'The range' },
    },
    304: { description: 'The document still has a given entity tag' },
  },
  problems: [...notFound, 'document-gone', 'range-not-satisfiable'],
  conditional: true,
})

export const deleteDocument = operation('deleteDocument', `DELETE ${path}`, {
  ...part,
  summary: 'Delete a document',
  description: 'If it is the primary one, the oldest other document of the version becomes primary.',
  scope: 'API_WRITE',
  params: DocumentPath,
  responses: { 204: { description: 'Deleted' } },
  problems: [...notFound, 'precondition-failed'],
  conditional: true,
})

export const listFindings = operation('listFindings', `GET ${path}/findings`, {
  ...part,
  summary: 'List the findings in a document',
  description:
    'Violations of the schema of its kind, at most 1,000, and for callers with READ_GOVERNANCE_DATA what enabled rule sets find, at most 500 of each, as many of each rule. Errors first.',
  scope: 'API_READ',
  params: DocumentPath,
  query: z.object({ page: paging(['line'], 'line,asc').page, size: paging(['line'], 'line,asc').size }),
  responses: {
    200: {
      description: 'A page of findings',
      schema: pageOf(DocumentFinding, 'Findings')
        .extend({
          rules: z.array(BrokenRule).meta({
            description: 'How often each rule is broken, on all pages, findings that are not kept included',
          }),
          truncated: z.boolean().meta({ description: 'Whether a rule set finds more than is kept' }),
        })
        .meta({ id: 'FindingPage' }),
      example: {
        content: [finding],
        size: 10,
        number: 1,
        totalPages: 1,
        totalElements: 1,
        last: true,
        rules: [{ ruleSet: null, code: finding.code, severity: finding.severity, places: 1 }],
        truncated: false,
      },
    },
  },
  problems: [...notFound, 'too-many-checks'],
})

export const compareDocument = operation('compareDocument', `GET ${path}/diff`, {
  ...part,
  summary: 'Compare a document with that of an earlier version',
  description:
    'What changed for clients of OpenAPI, AsyncAPI, GraphQL, JSON Schema and Protobuf: texts and examples do not count. A change of a schema that several operations use is told once. Changes of other kinds are UNCLEAR.',
  scope: 'API_READ',
  params: DocumentPath,
  query: z.object({
    from: text(100).optional().meta({
      description:
        'Id or name of the version to compare with. Default: the one created last before this one that has a document of the name',
    }),
    fromDocument: documentName.optional().meta({ description: 'Name of its document. Default: the same' }),
  }),
  responses: {
    200: {
      description: 'The changes',
      schema: DocumentDiff,
      example: {
        breaking: true,
        changes: [
          {
            pointer: '/components/schemas/Pet/properties/name',
            level: 'BREAKING',
            message: 'the property name became required in requests',
            line: 41,
            fromLine: 40,
          },
        ],
        truncated: false,
        from: { version: '2f0a8a57-3c0d-4e42-a8f7-0f3f5a3b9b01', document: 'openapi.yaml' },
      },
    },
  },
  problems: [...notFound, 'document-invalid', 'too-many-checks'],
})

const operationQuery = z.object({
  ...paging(['path', 'method', 'operationId', 'document'], 'path,asc'),
  q: text(1000).optional().meta({
    description: 'Each word is a case-insensitive substring of path, operation id or summary',
  }),
  method: z.string().max(20).optional(),
  tag: listOf(50, 'Has all of these tags; repeated or comma-separated'),
  deprecated: flag('Only deprecated operations, or only others'),
})
export type OperationQuery = z.infer<typeof operationQuery>
const operations = {
  200: { description: 'A page of operations', schema: pageOf(DescribedOperation, 'OperationPage') },
}

export const listVersionOperations = operation(
  'listVersionOperations',
  'GET /apis/{api_id}/versions/{version_id}/operations',
  {
    ...part,
    summary: 'List the operations in the documents of a version',
    scope: 'API_READ',
    params: VersionPath,
    query: operationQuery,
    responses: operations,
    problems: ['api-not-found', 'version-not-found'],
  },
)

export const listOperations = operation('listOperations', 'GET /operations', {
  ...part,
  summary: 'List the operations in all documents',
  scope: 'API_READ',
  query: operationQuery,
  responses: operations,
})
