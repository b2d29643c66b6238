export { lookInto } from './database.ts'
export { initiateReplicaSet } from './replica-set.ts'
