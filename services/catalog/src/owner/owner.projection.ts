import type { Project } from '@gantry/event-sourcing'
import { type Collection, defineCollection } from '@gantry/read-models'
import type { OwnerEvent, OwnerState } from './owner.ts'

export interface OwnerDocument {
  id: string
  displayName: string
}

export const owners = defineCollection<OwnerDocument>({ name: 'catalog.owners', version: 1, fields: {} })

export const projectOwner: Project<OwnerState, OwnerEvent> = (id, { state, revision }) => {
  if (state.status === 'Absent') return []
  const doc = state.status === 'Live' ? { id, displayName: state.displayName } : null
  return [{ collection: owners, id, doc, revision }]
}

export interface Owners {
  /** @returns display names by user id, without the unknown users */
  displayNames(ids: readonly (string | null)[]): Promise<Map<string, string>>
}

export const ownersIn = (collection: Collection<OwnerDocument>): Owners => ({
  async displayNames(ids) {
    const wanted = [...new Set(ids.filter(id => id !== null))]
    if (wanted.length === 1 && wanted[0]) {
      const stored = await collection.get(wanted[0])
      return new Map(stored ? [[stored.doc.id, stored.doc.displayName]] : [])
    }
    const stored = await collection.getMany(wanted)
    return new Map(stored.map(({ doc }) => [doc.id, doc.displayName]))
  },
})
