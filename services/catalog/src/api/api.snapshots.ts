import { PersistentMap, type SnapshotSchema } from '@gantry/event-sourcing'
import type { Json } from '@gantry/messaging'
import type { ApiState, LiveApi } from './api.ts'
import type { Version } from './version.ts'

/** A state as it is stored: maps as arrays, and without `versionIds`, which decoding computes from the versions. */
type EncodedApi =
  | { status: 'Absent' }
  | (Omit<LiveApi, 'versions' | 'versionIds' | 'deployedOn' | 'products'> & {
      versions: Version[]
      deployedOn: [string, string][]
      products: [string, { member: boolean; at: string }][]
    })
  | (Omit<Extract<ApiState, { status: 'Deleted' }>, 'versions'> & { versions: Version[] })

/** Stored snapshots of APIs. Their streams get long, since every change of a version and every deployment is an event. */
export const apiSnapshots: SnapshotSchema<ApiState> = {
  version: 2,
  encode(state): Json {
    return encoded(state) as unknown as Json
  },
  decode(json): ApiState {
    const state = json as unknown as EncodedApi
    if (state.status === 'Absent') return state
    const versions = PersistentMap.of(state.versions.map(version => [version.record.id, version]))
    if (state.status === 'Deleted') return { ...state, versions }
    return {
      ...state,
      versions,
      versionIds: PersistentMap.of(state.versions.map(({ record }) => [record.name, record.id])),
      deployedOn: new Map(state.deployedOn),
      products: new Map(state.products),
    }
  },
}

function encoded(state: ApiState): EncodedApi {
  if (state.status === 'Absent') return state
  const versions = [...state.versions.values()]
  if (state.status === 'Deleted') return { ...state, versions }
  const { versionIds: _, deployedOn, products, ...rest } = state
  return { ...rest, versions, deployedOn: [...deployedOn], products: [...products] }
}
