export {
  type ProcessContext,
  type ProcessOptions,
  type ProcessParts,
  runProcess,
  shutdownMs,
  type Terminal,
} from './process.ts'
export { hostInUrl, isResolved, originsBehind, systemResolve } from './requests/addresses.ts'
export {
  type InternalRequests,
  type InternalRequestsOptions,
  internalRequests,
} from './requests/internal-requests.ts'
export { answerOperators, processOn, servicesAt } from './requests/operators.ts'
export { type Replicas, type ReplicasOptions, referenceTime, replicas } from './requests/replicas.ts'
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
  urlsOfServices,
} from './settings.ts'
export { type BackingStore, type BackingStoreWatch, watchBackingStores } from './stores/backing-stores.ts'
