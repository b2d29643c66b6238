import { STREAM_CATEGORIES } from '@gantry/contracts'
import { type Fact, type RecordedEvent, streamCategory } from '@gantry/event-sourcing'
import { defineCollection } from '@gantry/stores'
import { type LogPoint, nextHash, sha256 } from './chain.ts'

/** Categories of streams that are removed: handled messages, the input of jobs that have ended, and bodies of deliveries. */
const REMOVED: ReadonlySet<string> = new Set(['heldmessages', 'jobinput', 'payload'])

/**
 * Whether the chain covers an event: every event of the services that can be read, except those that are removed. Of
 * deliveries, retention removes those without an audited change.
 */
export function isCovered({ stream, metadata, malformed }: RecordedEvent): boolean {
  const category = streamCategory(stream)
  if (malformed !== undefined || !STREAM_CATEGORIES.has(category) || REMOVED.has(category)) return false
  return category !== 'delivery' || metadata.change !== undefined
}

/** The hash of an event as it is stored. */
export const eventHash = ({ stream, revision, id, type, data, metadata }: Fact): string =>
  sha256(JSON.stringify([stream, revision, id, type, data, metadata]))

export const afterEvent = ({ events, hash }: LogPoint, position: string, own: string): LogPoint => ({
  events: events + 1,
  position,
  hash: nextHash(hash, own),
})

/** The hashes of consecutive covered events. They tell which event of a changed log differs. */
export interface EventBlock {
  /** Number of the block, from 0. */
  id: string
  /** The hash of the log before the block. */
  before: string
  /** 64 hexadecimal digits for each event. */
  hashes: string
}

export const eventBlocks = defineCollection<EventBlock>({
  name: 'identity.auditevents',
  version: 1,
  fields: {},
})

const PER_BLOCK = 64
const DIGITS = 64

/** Id of the block with a covered event. @param event its number, from 1 */
export const blockOf = (event: number): string => String(Math.floor((event - 1) / PER_BLOCK))

/** Index of a covered event in its block. */
export const placeIn = (event: number): number => (event - 1) % PER_BLOCK

/** Number of the last event that a block can have. */
export const lastOf = ({ id }: EventBlock): number => (Number(id) + 1) * PER_BLOCK

export const hashesIn = ({ hashes }: Pick<EventBlock, 'hashes'>): string[] => hashes.match(/.{64}/g) ?? []

/** The hash of the log after an event of the block; undefined when the block lacks the event. */
export function hashIn({ id, before, hashes }: EventBlock, event: number): string | undefined {
  const count = event - Number(id) * PER_BLOCK
  if (count * DIGITS > hashes.length) return undefined
  return hashesIn({ hashes: hashes.slice(0, count * DIGITS) }).reduce(nextHash, before)
}

/** The block after a further event. @param log the log after the event, whose hash is `own` */
export function grown(block: EventBlock, before: LogPoint, own: string): EventBlock {
  const id = blockOf(before.events + 1)
  return id === block.id ? { ...block, hashes: block.hashes + own } : { id, before: before.hash, hashes: own }
}
