import { hash } from 'node:crypto'

/** A place in the chain: after the record of that number. Number 0 is the place before the first record. */
export interface ChainPoint {
  number: number
  /** Position in the log of the record; empty before the first one. */
  position: string
  /** 64 hexadecimal digits. */
  chainHash: string
}

export const CHAIN_START: ChainPoint = { number: 0, position: '', chainHash: '0'.repeat(64) }

/** @returns SHA-256 as 64 hexadecimal digits; a string counts as UTF-8 */
export const sha256 = (data: string | Uint8Array): string => hash('sha256', data, 'hex')

const pair = Buffer.alloc(64)

/** The chain hash after a record: SHA-256 of the 32 bytes of the chain hash before it and the 32 bytes of its own hash. */
export function nextChainHash(chainHash: string, recordHash: string): string {
  pair.write(chainHash, 0, 32, 'hex')
  pair.write(recordHash, 32, 32, 'hex')
  return hash('sha256', pair, 'hex')
}
