export { inspectDatabase } from './database.ts'
export { pausedCheckpoints } from './paused-checkpoints.ts'
export { initiateReplicaSet } from './replica-set.ts'
