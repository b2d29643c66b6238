import { type EnvironmentSnapshot, Uuid } from '@gantry/contracts'
import type { Project } from '@gantry/event-sourcing'
import { type Collection, defineCollection } from '@gantry/stores'
import type { EnvironmentEvent, EnvironmentState } from './environment.ts'

export interface EnvironmentDocument extends EnvironmentSnapshot {
  /** The position for sorting, by which environments without one are the last. */
  place: number
  recordRevision: number
}

export const environments = defineCollection<EnvironmentDocument>({
  name: 'catalog.environments',
  version: 1,
  fields: {
    name: 'string',
    displayName: 'string',
    place: 'number',
    createdAt: 'string',
    updatedAt: 'string',
  },
})

export const projectEnvironment: Project<EnvironmentState, EnvironmentEvent> = (id, { state, revision }) => {
  if (state.status === 'Absent') return []
  const { record, recordRevision } = state
  const place = record.position ?? Number.MAX_SAFE_INTEGER
  return [{ collection: environments, id, doc: { ...record, place, recordRevision }, revision }]
}

/** Translates between ids and names of environments. */
export interface EnvironmentNames {
  /** The names of environments by id; null where there is none. */
  named(ids: readonly string[]): Promise<(id: string) => string | null>
  /** The filters with the id of the environment, of which the caller may have given the name. */
  resolved<Filters extends { environment?: string | undefined }>(filters: Filters): Promise<Filters>
}

export const environmentNames = (documents: Collection<EnvironmentDocument>): EnvironmentNames => ({
  async named(ids) {
    const found = await documents.getMany([...new Set(ids)])
    const names = new Map(found.map(({ doc }) => [doc.id, doc.name]))
    return id => names.get(id) ?? null
  },
  async resolved(filters) {
    const { environment } = filters
    if (environment === undefined) return filters
    const id = Uuid.safeParse(environment)
    if (id.success) return { ...filters, environment: id.data }
    const [found] = await documents.list({ where: { name: environment }, limit: 1 })
    // An unknown name stays: no API is deployed in it.
    return { ...filters, environment: found?.doc.id ?? environment }
  },
})
