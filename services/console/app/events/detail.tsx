import { CloseButton, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useAllowed } from '../http/session.ts'
import { Copied } from '../parts/copy.tsx'
import { schemasOfEvents } from '../parts/event-schemas.ts'
import { JsonText } from '../parts/json-text.tsx'
import { AnchorLink, ButtonLink } from '../parts/links.tsx'
import { timeWithMilliseconds } from '../parts/local-time.ts'
import { Properties, Property } from '../parts/properties.tsx'
import { Time } from '../parts/time.tsx'
import { TypeName } from '../parts/type-name.tsx'
import type { FeedEvent } from './buffer.ts'
import { apiOf, webhookOf } from './describe.ts'
import { Actor, Subject } from './subject.tsx'

interface EventDetailProps {
  event: FeedEvent
  onClose(): void
}

/** A selected event with its payload and what it leads to. */
export function EventDetail({ event, onClose }: EventDetailProps) {
  const schemas = useQuery(schemasOfEvents)
  const description = schemas.data?.find(({ type, newest }) => type === event.type && newest)?.description
  return (
    <Paper withBorder p="md" component="section" aria-label="Selected event">
      <Stack gap="sm">
        <Group justify="space-between" wrap="nowrap" align="start">
          <Title order={2} size="h4" style={{ overflowWrap: 'anywhere' }}>
            <TypeName name={event.type} />
          </Title>
          <CloseButton aria-label="Close the event" onClick={onClose} />
        </Group>
        {description && <Text size="sm">{description}</Text>}
        <EventLinks event={event} />
        <JsonText title="Payload" value={event.data} />
        <EventProperties event={event} />
      </Stack>
    </Paper>
  )
}

function EventLinks({ event }: { event: FeedEvent }) {
  const api = apiOf(event)
  const webhook = webhookOf(event)
  const mayReadApis = useAllowed('API_READ')
  const mayReadWebhooks = useAllowed('WEBHOOKS_READ')
  return (
    <Group gap="xs" component="nav" aria-label="Of this event">
      {api && mayReadApis && (
        <ButtonLink size="compact-sm" variant="default" to="/apis/$apiId" params={{ apiId: api }}>
          API
        </ButtonLink>
      )}
      {webhook && mayReadWebhooks && (
        <ButtonLink
          size="compact-sm"
          variant="default"
          to="/webhooks/$webhookId"
          params={{ webhookId: webhook }}
        >
          Webhook
        </ButtonLink>
      )}
      {mayReadWebhooks && (
        <ButtonLink size="compact-sm" variant="default" to="/deliveries" search={{ eventId: event.id }}>
          Deliveries
        </ButtonLink>
      )}
      <ButtonLink size="compact-sm" variant="default" to="/audit" search={{ resource: event.subject }}>
        Audit log
      </ButtonLink>
    </Group>
  )
}

function EventProperties({ event }: { event: FeedEvent }) {
  const { id, source, subject, revision, time, actor, requestId, traceId, position } = event
  return (
    <Properties>
      <Property name="Time">
        {timeWithMilliseconds(time)} (<Time at={time} />)
      </Property>
      <Property name="Caused by">
        <Actor actor={actor} />
      </Property>
      <Property name="Source">
        {source}, revision {revision}
      </Property>
      <Property name="Subject">
        <Subject event={event} />
        <Copied value={subject} what="id of the subject" />
      </Property>
      <Property name="Event id">
        <Copied value={id} what="event id" />
      </Property>
      <Property name="Request id">
        <Copied value={requestId} what="request id" />
      </Property>
      {traceId && (
        <Property name="Trace id">
          <Copied value={traceId} what="trace id" />
          <AnchorLink size="sm" to="/events" search={withTrace(traceId)}>
            Show the received events of this trace
          </AnchorLink>
        </Property>
      )}
      <Property name="Position">
        <Copied value={position} what="position" />
        <AnchorLink size="sm" to="/events" search={{ after: position }}>
          Follow from here
        </AnchorLink>
      </Property>
      <Property name="Link">
        <AnchorLink size="sm" to="/events" search={{ from: time, event: id }}>
          This event and what followed
        </AnchorLink>
      </Property>
    </Properties>
  )
}

/** Keeps the rest of the URL, so that the feed is not read again. */
const withTrace = (trace: string) => ((before: object) => ({ ...before, trace })) as never
