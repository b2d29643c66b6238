import type { Schemas } from '../../http/schemas.ts'

/** The operations of a history in words, with {} for the environment. */
const OPERATIONS: Readonly<Record<string, string>> = {
  API_CREATED: 'Created',
  API_UPDATED: 'Changed',
  API_RESTORED: 'Restored',
  API_DELETED: 'Deleted',
  API_DEPLOYMENT_STARTED: 'Deployment to {} started',
  API_UNDEPLOYMENT_STARTED: 'Undeployment from {} started',
  API_DEPLOYED: 'Deployed to {}',
  API_UNDEPLOYED: 'Undeployed from {}',
  API_DEPLOYMENT_FAILED: 'Deployment in {} failed',
  API_IMAGE_UPDATED: 'Image changed',
  API_IMAGE_DELETED: 'Image deleted',
  API_VERSION_DOCUMENT_UPDATED: 'Document changed',
  API_VERSION_DOCUMENT_DELETED: 'Document deleted',
  API_VERSION_CREATED: 'Version created',
  API_VERSION_UPDATED: 'Version changed',
  API_VERSION_DELETED: 'Version deleted',
}

type Entry = Pick<
  Schemas['HistoryEntry'],
  'operation' | 'resourceType' | 'resourceId' | 'environment' | 'changes'
>

/** Names by ids. */
interface Names {
  versions: ReadonlyMap<string, string>
  environments?: ReadonlyMap<string, string>
}

/** An entry in words. Those of versions name the version, those of documents the document, and deployments their environment. */
export function titleOf(entry: Entry, { versions, environments }: Names): string {
  const { operation, resourceType, resourceId, environment } = entry
  const place = environment === null ? 'an environment' : (environments?.get(environment) ?? environment)
  const title = OPERATIONS[operation]?.replace('{}', () => place) ?? operation
  const version = versions.get(resourceId)
  if (resourceType !== 'API_VERSION') return title
  if (operation === 'API_DELETED') return `${['Version', version].join(' ').trim()} deleted with the API`
  if (version === undefined) return title
  if (!operation.startsWith('API_VERSION_DOCUMENT_')) return title.replace('Version', `Version ${version}`)
  const { name, what } = documentOf(entry)
  return name === undefined
    ? `${title.replace('Document', 'A document')} in version ${version}`
    : `Document ${name} ${what} in version ${version}`
}

/** The document that an entry is about. The list of a version has nothing of its content, so that it may be the same. */
function documentOf({ operation, changes }: Pick<Entry, 'operation' | 'changes'>) {
  const { before, value } = changes.find(({ path }) => path === '/documents') ?? {}
  const [was, is] = [namedIn(before), namedIn(value)]
  if (operation === 'API_VERSION_DOCUMENT_DELETED')
    return { name: [...was.keys()].find(name => !is.has(name)), what: 'deleted' }
  const added = [...is.keys()].find(name => !was.has(name))
  if (added !== undefined) return { name: added, what: 'added' }
  return { name: [...is].find(([name, text]) => was.get(name) !== text)?.[0], what: 'changed' }
}

const namedIn = (documents: unknown): ReadonlyMap<string, string> =>
  new Map(
    Array.isArray(documents) ? documents.map(document => [document.name, JSON.stringify(document)]) : [],
  )

/** The names that entries give to versions, by the ids of the versions. @param entries newest first */
export const versionNamesIn = (entries: readonly Entry[]): ReadonlyMap<string, string> =>
  new Map(
    entries.toReversed().flatMap(({ resourceType, resourceId, changes }) => {
      const named = changes.find(({ path }) => path === '/name')
      const name = named?.value ?? named?.before
      return resourceType === 'API_VERSION' && typeof name === 'string' ? [[resourceId, name] as const] : []
    }),
  )
