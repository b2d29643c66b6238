import * as eventSchemas from '../events/event-schemas.ts'
import * as events from '../events/events.ts'
import * as apiCatalog from '../operations/api-catalog.ts'
import * as apis from '../operations/apis.ts'
import * as audit from '../operations/audit.ts'
import * as documents from '../operations/documents.ts'
import * as environments from '../operations/environments.ts'
import * as history from '../operations/history.ts'
import * as identity from '../operations/identity.ts'
import * as images from '../operations/images.ts'
import * as imports from '../operations/imports.ts'
import * as jobs from '../operations/jobs.ts'
import type { Method, Operation } from '../operations/operation.ts'
import * as readModels from '../operations/read-models.ts'
import * as ruleSets from '../operations/rule-sets.ts'
import * as system from '../operations/system.ts'
import * as versions from '../operations/versions.ts'
import * as webhooks from '../operations/webhooks.ts'

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'DELETE']

/** A list comes before its creation, and then what concerns one resource: get, replace, delete. */
function inOrder(a: Operation, b: Operation): number {
  if (a.path === b.path) return METHODS.indexOf(a.method) - METHODS.indexOf(b.method)
  // Braces of parameters sort after letters.
  return a.path < b.path ? -1 : 1
}

/** Every operation of the interface, in the order of the documentation. */
export const OPERATIONS: readonly Operation[] = [
  apis,
  environments,
  images,
  versions,
  documents,
  ruleSets,
  apiCatalog,
  imports,
  jobs,
  identity,
  audit,
  webhooks,
  history,
  events,
  eventSchemas,
  readModels,
  system,
].flatMap(part =>
  Object.values(part)
    .filter(
      (value): value is Operation => typeof value === 'object' && 'method' in value && 'responses' in value,
    )
    .toSorted(inOrder),
)

/** Descriptions of the tags of operations, in the order of the documentation. */
export const TAGS: Readonly<Record<string, string>> = {
  Apis: 'API definitions',
  Environments: 'Where APIs are deployed: places of the platform around Gantry, with names and an order',
  Deployments: 'Deployment of APIs to environments; deployment agents execute the jobs',
  Images: 'One image per API',
  Versions: 'Versions of APIs',
  Documents: 'Documents that describe versions, and the operations in them',
  'Rule sets': 'Rules for the content of documents',
  Jobs: 'Changes of many APIs in the background, with a result for each',
  Login: 'Login with username and password',
  'Access tokens': 'Personal access tokens, for automation',
  Users: 'Users and their roles',
  Audit: 'The audit log: who changed which resource, and how',
  Webhooks: 'Endpoints that receive events',
  'Webhook requests': 'What the endpoints of webhooks are sent',
  Deliveries: `Events sent to webhooks, and those still to be sent. ${webhooks.RETRIES}`,
  Events: 'A stream of all public events, and the publication of events of the platform',
  'Read models': 'Documents that are computed from the event log, and their rebuild',
  System: 'The services, their lag and their backing stores',
  Service: 'Health, metrics and keys',
}
