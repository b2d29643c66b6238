export { type ProcessContext, type ProcessParts, runProcess, shutdownMs, type Terminal } from './process.ts'
export { hostInUrl, isResolved, originsBehind, systemResolve } from './requests/addresses.ts'
export { type InternalRequests, internalRequests } from './requests/internal-requests.ts'
export { answerOperators, processOn, servicesAt } from './requests/operators.ts'
export { type Replicas, referenceTime, replicas } from './requests/replicas.ts'
export { NotListening, type Port } from './servers.ts'
export {
  busSettings,
  keySettings,
  type ProcessSettings,
  principalKeySetting,
  processSettings,
  serverSettings,
  serviceSettings,
  storeSettings,
  urlsOfServices,
} from './settings.ts'
export { type BackingStore, watchBackingStores } from './stores/backing-stores.ts'
