import { z } from 'zod'
import { Timestamp } from '../operations/primitives.ts'
import { schemaPath } from './event-schemas.ts'
import { isPublicEventType, type PublicEvent, versionsOf } from './public-events.ts'

export const CLOUDEVENTS_JSON = 'application/cloudevents+json'
export const CLOUDEVENTS_BATCH = 'application/cloudevents-batch+json'

/** A public event as a CloudEvents 1.0 event in the JSON format. Attributes without a value are absent. */
export const EmittedCloudEvent = z
  .object({
    specversion: z.literal('1.0'),
    id: z.uuid(),
    source: z.string().meta({
      description: 'The service that recorded the event; for an event of the platform its producer',
    }),
    type: z.string().meta({ description: 'The event type, e.g. API_CREATED' }),
    subject: z.string().optional().meta({ description: 'Id of the resource' }),
    time: Timestamp,
    datacontenttype: z.literal('application/json'),
    dataschema: z.string().optional().meta({
      description: 'URL of the JSON Schema of data. Absent if PUBLIC_URL is not set, or the type is unknown',
      format: 'uri',
    }),
    data: z.record(z.string(), z.unknown()),
    revision: z.int().optional().meta({
      description: 'Revision of the event in the stream of its resource. Grows from event to event',
    }),
    position: z.string().optional().meta({ description: 'Value of ?after= to resume after this event' }),
    requestid: z.string().optional().meta({ description: 'Id of the request that caused the event' }),
    actorid: z.string().optional().meta({ description: 'Id of the user who caused the event' }),
    actorname: z.string().optional().meta({ description: 'Part of the service that caused the event' }),
    traceparent: z.string().optional().meta({ description: 'W3C trace context of the request' }),
  })
  .meta({
    id: 'EmittedCloudEvent',
    example: {
      specversion: '1.0',
      id: 'f3b5a1c2-9d0e-4f6a-8b7c-1d2e3f4a5b6c',
      source: 'catalog',
      type: 'API_DELETED',
      subject: '5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10',
      time: '2026-11-21T09:30:00.000Z',
      datacontenttype: 'application/json',
      data: {},
    },
  })
export type EmittedCloudEvent = z.infer<typeof EmittedCloudEvent>

/** What a CloudEvents event is made of: the members that its readers may see. */
export type CloudEventContent = Pick<PublicEvent, 'id' | 'type' | 'source' | 'subject' | 'time' | 'data'> &
  Partial<Pick<PublicEvent, 'version' | 'revision' | 'requestId' | 'actor'>> & {
    position?: string | undefined
    traceparent?: string | undefined
  }

/**
 * A public event as a CloudEvents 1.0 event. Its data are used as they are.
 * @param publicUrl the address of the service for its clients, for the link to the schema
 */
export function toCloudEvent(
  { actor, requestId, version = 1, ...event }: CloudEventContent,
  publicUrl: string | undefined,
): EmittedCloudEvent {
  return {
    specversion: '1.0',
    id: event.id,
    source: uriReference(event.source),
    type: event.type,
    subject: event.subject || undefined,
    time: event.time,
    datacontenttype: 'application/json',
    dataschema: schemaUrl(event.type, version, publicUrl),
    revision: event.revision,
    position: event.position,
    requestid: requestId || undefined,
    actorid: actor?.id ?? undefined,
    actorname: actor && actor.id === null ? actor.name : undefined,
    traceparent: event.traceparent,
    data: event.data,
  }
}

/** @returns undefined for types and versions of newer releases, and if the address of the service is not known */
function schemaUrl(type: string, version: number, publicUrl: string | undefined): string | undefined {
  if (publicUrl === undefined || !isPublicEventType(type)) return undefined
  return version <= versionsOf(type).length ? publicUrl + schemaPath(type, version) : undefined
}

const PCHAR = "(?:[\\w.~!$&'()*+,;=:@-]|%[\\da-f]{2})"
/** RFC 3986 §4.1, without IP literals. A colon in the first segment begins a scheme. */
const URI_REFERENCE = new RegExp(
  `^(?:[a-z][a-z\\d+.-]*:|(?![^/?#]*:))(?:${PCHAR}|/)*(?:\\?(?:${PCHAR}|[/?])*)?(?:#(?:${PCHAR}|[/?])*)?$`,
  'i',
)

/** The source as a URI reference, as CloudEvents requires. A producer may have sent any text: it is then encoded. */
const uriReference = (source: string): string =>
  URI_REFERENCE.test(source) && URL.canParse(source, 'http://base')
    ? source
    : encodeURIComponent(source.toWellFormed())
