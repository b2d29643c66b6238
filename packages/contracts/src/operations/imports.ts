import { z } from 'zod'
import { ApiRecord, apiExample } from './apis.ts'
import { DocumentKind, FindingCounts } from './document-kinds.ts'
import { MAX_DOCUMENT_BYTES } from './documents.ts'
import { JobRecord, jobExample, MAX_JOB_ITEMS } from './jobs.ts'
import { operation } from './operation.ts'
import { flag } from './primitives.ts'

const Planned = z.enum(['CREATE', 'UPDATE', 'NONE']).meta({ id: 'PlannedAction' })
const id = z.uuid().nullable().meta({ description: 'Null for what does not exist yet' })

/** What an import would do. */
export const ImportPlan = z
  .object({
    api: z
      .object({ action: Planned, id, name: z.string(), displayName: z.string() })
      .meta({ id: 'PlannedApi' }),
    version: z.object({ action: Planned, id, name: z.string() }).meta({ id: 'PlannedVersion' }),
    document: z
      .object({ action: Planned, name: z.string(), kind: DocumentKind })
      .meta({ id: 'PlannedDocument' }),
    findings: FindingCounts,
  })
  .meta({ id: 'ImportPlan' })
export type ImportPlan = z.infer<typeof ImportPlan>

const record: ApiRecord = { ...apiExample, ownerDisplayName: 'Administrator' }

export const importApi = operation('importApi', 'POST /apis/import', {
  service: 'catalog',
  tag: 'Apis',
  summary: 'Create or update APIs from documents',
  description: `The body is the document, with what \`PUT …/documents/{name}\` allows. Creates the API and the version that it names, or updates the display name and the description of the API that has the name, whoever owns it, and stores the document in the version. A new API is ACTIVE, has no tags, and belongs to the caller. The name of the API is \`x-gantry-name\` of the document or of its \`info\`; else \`x-providerName\` with \`x-serviceName\`, or with the title; else the title. Without \`info.version\` the version is \`unversioned\`. Another \`info.version\` adds a version, and the earlier one stays. A document replaces the one of its kind in the version. The same import again changes nothing, and completes one that was interrupted. To mark the APIs that a program imports, give them a tag with \`POST /apis/bulk\`, which imports keep.

A body of the type application/x-ndjson has a document on each line, at most ${MAX_JOB_ITEMS}: the JSON of the document, or {"document": …} with the JSON or with the text of any document as a string, or {"url": …} from which the document is fetched, of an address that webhooks may reach. A job imports them in their order, with a result for each.`,
  scope: 'API_WRITE',
  query: z.object({ dryRun: flag('true: change nothing, and answer with what the import would do') }),
  body: z.any().meta({ override: { type: 'string', format: 'binary' } }),
  bodyMediaType: '*/*',
  bodyLimit: MAX_DOCUMENT_BYTES,
  responses: {
    200: {
      description: 'The API, which was there before; with dryRun the plan',
      schema: z.union([ApiRecord, ImportPlan]).meta({ id: 'ImportOutcome' }),
      example: record,
    },
    201: {
      description: 'The new API',
      schema: ApiRecord,
      headers: { Location: 'Path of the API' },
      example: record,
    },
    202: {
      description: 'The job that imports many documents',
      schema: JobRecord,
      headers: { Location: 'Path of the job' },
      example: { ...jobExample, type: 'IMPORT', change: null },
    },
  },
  problems: [
    'too-many-jobs',
    'body-too-large',
    'document-invalid',
    'document-too-large',
    'too-many-checks',
    'too-many-documents',
    'too-many-versions',
    'api-not-found',
    'write-conflict',
  ],
  idempotent: true,
})
