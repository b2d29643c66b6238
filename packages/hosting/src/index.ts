export { hostInUrl, isResolved, originsBehind, systemResolve } from './addresses.ts'
export { type BackingStore, type BackingStoreWatch, watchBackingStores } from './backing-stores.ts'
export { type InternalRequests, type InternalRequestsOptions, internalRequests } from './internal-requests.ts'
export {
  type ProcessContext,
  type ProcessOptions,
  type ProcessParts,
  runProcess,
  shutdownMs,
  type Terminal,
} from './process.ts'
export { referenceTime } from './reference-time.ts'
export { type Replicas, type ReplicasOptions, replicas } from './replicas.ts'
export { NotListening, type Port, processServers, type Servers } from './servers.ts'
export {
  busSettings,
  keySettings,
  type ProcessSettings,
  principalKeySetting,
  processSettings,
  type StoreSettings,
  serverSettings,
  serviceSettings,
  storeSettings,
} from './settings.ts'
