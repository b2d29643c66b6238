export { initiateReplicaSet, inspectDatabase, pausedCheckpoints } from './database.ts'
