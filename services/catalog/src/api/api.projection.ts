import type { ApiSnapshot, AttachedDocument, VersionRecord } from '@gantry/contracts'
import { type Period, type Project, periodFields, validity } from '@gantry/event-sourcing'
import { defineCollection, type Write } from '@gantry/stores'
import type { ApiEvent, ApiState } from './api.ts'
import type { RunningJob } from './deployment.ts'
import { documentsOf } from './version.ts'

/** An API with the fields that lists and filters need. */
export interface ApiDocument extends ApiSnapshot {
  recordRevision: number
  deployed: boolean
  deployedOn: { environment: string; deployedAt: string }[]
  /** The environments of `deployedOn`, for the filter. */
  environments: string[]
  runningJobs: RunningJob[]
  /** `{start time of the oldest running job}/{id of the API}`. Null when no job runs. */
  jobsSince: string | null
  products: string[]
}

export const apis = defineCollection<ApiDocument>({
  name: 'catalog.apis',
  version: 2,
  fields: {
    name: 'string',
    displayName: 'string',
    status: 'string',
    platformType: 'string',
    owner: 'string',
    tags: 'strings',
    createdAt: 'string',
    updatedAt: 'string',
    deploymentStatus: 'string',
    deployed: 'boolean',
    environments: 'strings',
    jobsSince: 'string',
    products: 'strings',
  },
  text: ['name', 'description'],
  search: {
    fields: {
      name: { weight: 6, words: 3 },
      displayName: { weight: 5, words: 3 },
      tags: { weight: 3, words: 3 },
      description: { weight: 3, words: 40 },
    },
  },
})

export interface VersionDocument extends VersionRecord {
  versionRevision: number
  documents: AttachedDocument[]
  /** Whether it has documents, for the filter. */
  documented: boolean
}

export const versions = defineCollection<VersionDocument>({
  name: 'catalog.versions',
  version: 1,
  fields: {
    api: 'string',
    name: 'string',
    displayName: 'string',
    status: 'string',
    createdAt: 'string',
    documented: 'boolean',
  },
  search: { fields: { name: { weight: 1, words: 2 }, displayName: { weight: 1, words: 2 } } },
})

const VERSION_EVENTS: ReadonlySet<ApiEvent['type']> = new Set([
  'VersionCreated',
  'VersionUpdated',
  'VersionDeleted',
  'DocumentAttached',
  'DocumentDetached',
])

/** The document of the API, and of each version that the events changed. Removes all of them when the API is deleted. */
export const projectApi: Project<ApiState, ApiEvent> = (id, { state, revision }, events) => {
  if (state.status === 'Absent') return []
  const changedVersions = new Set<string>()
  for (const { type, data } of events) {
    if (VERSION_EVENTS.has(type)) changedVersions.add((data as { id: string }).id)
  }
  if (state.status === 'Deleted') {
    // Also versions that were deleted before the API: their events may be projected together with the API's deletion.
    const removals = [...new Set([...state.versions.keys(), ...changedVersions])].map(
      (version): Write => ({ collection: versions, id: version, doc: null, revision }),
    )
    return [{ collection: apis, id, doc: null, revision }, ...removals]
  }
  const versionWrites = [...changedVersions].map((version): Write => {
    const known = state.versions.get(version)
    const documents = known ? documentsOf(known) : []
    const doc = known && {
      ...known.record,
      versionRevision: known.revision,
      documents,
      documented: documents.length > 0,
    }
    return { collection: versions, id: version, doc: doc ?? null, revision }
  })
  const deployedOn = [...state.deployedOn].map(([environment, deployedAt]) => ({ environment, deployedAt }))
  const [oldest] = state.runningJobs.map(({ startedAt }) => startedAt).toSorted()
  const doc: ApiDocument = {
    ...state.record,
    recordRevision: state.recordRevision,
    deployed: deployedOn.length > 0,
    deployedOn,
    environments: deployedOn.map(({ environment }) => environment),
    runningJobs: [...state.runningJobs],
    jobsSince: oldest === undefined ? null : `${oldest}/${id}`,
    products: [...state.products].filter(([, { member }]) => member).map(([product]) => product),
  }
  return [{ collection: apis, id, doc, revision }, ...versionWrites]
}

const { jobsSince: _, ...filtered } = apis.fields

/** APIs as they were at earlier times. */
export const apiPeriods = defineCollection<ApiDocument & Period>({
  name: 'catalog.api-periods',
  version: 1,
  fields: { ...periodFields, ...filtered },
  validity,
  text: apis.text,
})

/** Versions as they were at earlier times. */
export const versionPeriods = defineCollection<VersionDocument & Period>({
  name: 'catalog.version-periods',
  version: 1,
  fields: { ...periodFields, ...versions.fields },
  validity,
})

/** The documents of `projectApi`, in the collections of periods. */
export const projectApiPeriods: Project<ApiState, ApiEvent> = (id, state, events) =>
  projectApi(id, state, events).map(write => ({
    ...write,
    collection: write.collection === apis ? apiPeriods : versionPeriods,
  }))

/** The record of an API, without the fields for lists and filters. */
export function snapshotOf(doc: ApiDocument): ApiSnapshot {
  const { recordRevision, deployed, deployedOn, environments, runningJobs, jobsSince, products, ...fields } =
    doc
  return fields
}

export const versionRecordOf = ({
  versionRevision,
  documents,
  documented,
  ...fields
}: VersionDocument): VersionRecord => fields

/** The record of a version with its documents, as its history shows it. */
export const versionWithDocuments = (doc: VersionDocument) => ({
  ...versionRecordOf(doc),
  ...(doc.documented && { documents: doc.documents }),
})
