export { initiateReplicaSet } from './replica-set.ts'
