import type { Change } from '@gantry/contracts'
import type { EventMetadata, JsonObject, RecordedEvent } from './event.ts'

/** An event as a store has it, whoever appended it. */
export interface StoredEvent extends Omit<RecordedEvent, 'data' | 'metadata' | 'malformed'> {
  data: unknown
  metadata: unknown
}

/**
 * Any stored event in the shape of an event of a service. One that is none keeps its stream, revision, type and position,
 * has empty data and neutral metadata, and `malformed` tells what is wrong with it.
 */
export function recordedEvent({ data, metadata, ...stored }: StoredEvent): RecordedEvent {
  const malformed = faultOf(data, metadata)
  if (malformed === undefined)
    return { ...stored, data: data as JsonObject, metadata: metadata as EventMetadata }
  const neutral = { actor: { id: null, name: 'unknown' }, requestId: stored.id, at: stored.recordedAt }
  return { ...stored, data: {}, metadata: neutral, malformed }
}

/** Parses what a store has as text. @returns undefined for what is no JSON, which `recordedEvent` finds malformed */
export function parsedText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function faultOf(data: unknown, metadata: unknown): string | undefined {
  if (!isObject(data)) return 'its data are no JSON object'
  if (!isObject(metadata)) return 'its metadata are no JSON object'
  const { actor, requestId, at, change, schemaVersion = 1 } = metadata
  if (!isActor(actor)) return 'its metadata name no actor'
  if (typeof requestId !== 'string') return 'its metadata have no requestId'
  if (typeof at !== 'string' || Number.isNaN(Date.parse(at))) return 'its metadata have no time'
  if (change !== undefined && !isChange(change)) return 'its metadata have a malformed change'
  if (!(Number.isInteger(schemaVersion) && Number(schemaVersion) > 0))
    return 'its metadata have a malformed schemaVersion'
  return undefined
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)

const isActor = (actor: unknown) =>
  isObject(actor) &&
  (actor.id === null || typeof actor.id === 'string') &&
  typeof actor.name === 'string' &&
  (actor.tokenId === undefined || typeof actor.tokenId === 'string')

const isChange = (change: unknown): change is Change =>
  isObject(change) &&
  [change.action, change.resourceType, change.resourceId].every(part => typeof part === 'string') &&
  [change.before, change.after].every(state => state === null || isObject(state)) &&
  (change.personal === undefined ||
    (isObject(change.personal) &&
      typeof change.personal.sealed === 'string' &&
      typeof change.personal.commitment === 'string'))
