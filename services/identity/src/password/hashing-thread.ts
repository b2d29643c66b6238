import { argon2Sync } from 'node:crypto'
import type { Hashing } from './hashing.ts'

export const hash = ({ algorithm, parameters }: Hashing): Uint8Array => argon2Sync(algorithm, parameters)
