import { argon2Sync } from 'node:crypto'
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import type { Hashing } from './hashing.ts'

/** A third of the share that others get where there is not enough for all. */
const NICE = 5
// On Linux it counts for this thread alone (setpriority(2), "C library/kernel differences"): whoever answers other
// requests goes first. Elsewhere it would be the whole process.
if (process.platform === 'linux') setPriority(0, NICE)

parentPort?.on('message', ({ algorithm, parameters }: Hashing) =>
  parentPort?.postMessage(argon2Sync(algorithm, parameters)),
)
