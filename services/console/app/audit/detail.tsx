import { CloseButton, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useAllowed } from '../http/session.ts'
import { Copied } from '../parts/copy.tsx'
import { JsonText } from '../parts/json-text.tsx'
import { AnchorLink } from '../parts/links.tsx'
import { timeWithMilliseconds } from '../parts/local-time.ts'
import { Properties, Property } from '../parts/properties.tsx'
import { Time } from '../parts/time.tsx'
import { TypeName } from '../parts/type-name.tsx'
import { type Entry, userName } from './entries.ts'
import { EntryChanges } from './entry-changes.tsx'
import { ProofOfEntry } from './proof-of-entry.tsx'
import { ResourceName } from './resource-name.tsx'
import { StartedBy } from './started-by.tsx'

/** A selected entry: what changed, and what proves it. */
export function EntryDetail({ entry, onClose }: { entry: Entry; onClose(): void }) {
  return (
    <Paper withBorder p="md" component="section" aria-label="Selected entry">
      <Stack gap="sm">
        <Group justify="space-between" wrap="nowrap" align="start">
          <Title order={2} size="h4" style={{ overflowWrap: 'anywhere' }}>
            <TypeName name={entry.action} />
          </Title>
          <CloseButton aria-label="Close the entry" onClick={onClose} />
        </Group>
        <Text style={{ overflowWrap: 'anywhere' }}>
          <ResourceName entry={entry} /> · <Time at={entry.timestamp} /> by {userName(entry)}
        </Text>
        <StartedBy entry={entry} />
        <EntryChanges details={entry.details} environment={entry.environment} />
        <ProofOfEntry number={entry.number} />
        <EntryProperties entry={entry} />
        <JsonText title="Record" value={entry} />
      </Stack>
    </Paper>
  )
}

function EntryProperties({ entry }: { entry: Entry }) {
  const { timestamp, recordedAt, user, resourceType, resourceId, requestId, number, position } = entry
  return (
    <Properties>
      <Property name="Time">
        {timeWithMilliseconds(timestamp)} (<Time at={timestamp} />)
      </Property>
      <Property name="Recorded">{timeWithMilliseconds(recordedAt)}</Property>
      <Property name="By">
        {userName(entry)}
        {user.id && (
          <>
            {' · '}
            <AnchorLink to="/audit" search={{ user: user.username ?? user.id }} size="sm" underline="always">
              All changes by this user
            </AnchorLink>
          </>
        )}
      </Property>
      <Property name={`Resource: ${resourceType}`}>
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          <ResourceName entry={entry} />
        </Text>
        <Copied value={resourceId} what="id of the resource" />
        <Group gap="sm">
          <AnchorLink to="/audit" search={{ resource: resourceId }} size="sm">
            All changes
          </AnchorLink>
          <ResourceLinks type={resourceType} id={resourceId} />
        </Group>
      </Property>
      <Property name="Request id">
        <Copied value={requestId} what="request id" />
      </Property>
      <Property name="Place in the chain">
        Record {number.toLocaleString('en')}, position {position}
      </Property>
    </Properties>
  )
}

/** The page of a resource, and its events. */
function ResourceLinks({ type, id }: { type: string; id: string }) {
  const mayReadApis = useAllowed('API_READ')
  const mayReadWebhooks = useAllowed('WEBHOOKS_READ')
  if (type === 'API')
    return (
      <>
        {mayReadApis && (
          <AnchorLink to="/apis/$apiId" params={{ apiId: id }} size="sm">
            API
          </AnchorLink>
        )}
        <AnchorLink to="/events" search={{ api: id, since: 'all' }} size="sm">
          Events
        </AnchorLink>
      </>
    )
  if (type === 'JOB')
    return (
      <AnchorLink to="/jobs/$jobId" params={{ jobId: id }} size="sm">
        Job
      </AnchorLink>
    )
  if (type === 'WEBHOOK')
    return (
      <>
        {mayReadWebhooks && (
          <AnchorLink to="/webhooks/$webhookId" params={{ webhookId: id }} size="sm">
            Webhook
          </AnchorLink>
        )}
        <AnchorLink to="/events" search={{ webhook: id, since: 'all' }} size="sm">
          Events
        </AnchorLink>
      </>
    )
  return null
}
