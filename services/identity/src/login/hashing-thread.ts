import { argon2Sync } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import type { Hashing } from './hashing.ts'

parentPort?.on('message', ({ algorithm, parameters }: Hashing) =>
  parentPort?.postMessage(argon2Sync(algorithm, parameters)),
)
