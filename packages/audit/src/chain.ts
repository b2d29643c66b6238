import { hash } from 'node:crypto'

/** A place in the chain of records: after the record of that number. Number 0 is the place before the first record. */
export interface ChainPoint {
  number: number
  /** Position in the log of the record; empty before the first one. */
  position: string
  /** 64 hexadecimal digits. */
  chainHash: string
}

/** A place in the log, after an event that the chain covers. */
export interface LogPoint {
  /** Number of covered events up to here. */
  events: number
  /** Position of the last of these events; empty before the first one. */
  position: string
  /** Hash of all these events, 64 hexadecimal digits. */
  hash: string
}

/** The end of the chain: the last record, and the last event of the log that it covers. */
export interface ChainEnd {
  record: ChainPoint
  log: LogPoint
}

const ZEROS = '0'.repeat(64)
export const CHAIN_START: ChainPoint = { number: 0, position: '', chainHash: ZEROS }
export const LOG_START: LogPoint = { events: 0, position: '', hash: ZEROS }

/** @returns SHA-256 as 64 hexadecimal digits; a string counts as UTF-8 */
export const sha256 = (data: string | Uint8Array): string => hash('sha256', data, 'hex')

const pair = Buffer.alloc(64)

/** The hash of a chain after a link: SHA-256 of the 32 bytes of the hash before it and the 32 bytes of its own hash. */
export function nextHash(before: string, own: string): string {
  pair.write(before, 0, 32, 'hex')
  pair.write(own, 32, 32, 'hex')
  return hash('sha256', pair, 'hex')
}
