import { Accordion, Code, Group, Stack, Table, Text, Timeline, Title } from '@mantine/core'
import type { Schemas } from '../../http/schemas.ts'
import { CodeBlock } from '../../parts/copy.tsx'
import { toneOf } from '../../parts/state-badge.tsx'
import { exactTime, Time } from '../../parts/time.tsx'
import { NextAttempt } from './countdown.tsx'
import type { Delivery, Pause } from './delivery-queries.ts'
import { faultOf } from './faults.ts'

type Attempt = Schemas['Attempt']

const TRIGGERS: Readonly<Record<Attempt['trigger'], string>> = {
  AUTOMATIC: 'Automatic',
  MANUAL: 'Requested by a user',
  RECOVERY: 'Part of a recovery',
  TEST: 'Test',
}

/** The attempts of a delivery, the latest one first, after the next one. */
export function Attempts({ delivery, pause }: { delivery: Delivery; pause: Pause | undefined }) {
  const { attemptLog, attempts, nextAttemptAt, waitsFor } = delivery
  const older = attempts - attemptLog.length
  return (
    <section aria-labelledby="attempts" style={{ minWidth: 0 }}>
      <Title order={2} size="h4" id="attempts" mb="md">
        Attempts
      </Title>
      <Timeline bulletSize={18} lineWidth={2} active={-1}>
        {nextAttemptAt && (
          <Timeline.Item
            title={
              <Text fw={600} component="h3" fz="sm">
                Attempt {attempts + 1}
              </Text>
            }
            lineVariant="dashed"
          >
            <Text size="sm">
              Begins <NextAttempt delivery={delivery} pause={pause} />
            </Text>
          </Timeline.Item>
        )}
        {attemptLog.toReversed().map(attempt => (
          <Timeline.Item
            key={attempt.number}
            bullet={<Dot attempt={attempt} />}
            title={<AttemptTitle attempt={attempt} />}
          >
            <AttemptDetails attempt={attempt} isLatest={attempt === attemptLog.at(-1)} />
          </Timeline.Item>
        ))}
      </Timeline>
      {attempts === 0 && !nextAttemptAt && (
        <Text size="sm">{waitsFor ? 'No attempt was made yet.' : 'No attempt was made.'}</Text>
      )}
      {older > 0 && <Text size="sm">{older} earlier attempts are not kept.</Text>}
    </section>
  )
}

const isRunning = ({ durationMs, error }: Attempt) => durationMs === null && error === null

function colorOf(attempt: Attempt): string {
  if (isRunning(attempt)) return 'blue'
  return attempt.error === null ? 'teal' : attempt.fault === 'SERVICE' ? 'orange' : 'red'
}

function Dot({ attempt }: { attempt: Attempt }) {
  return (
    <svg width="10" height="10" aria-hidden="true">
      <circle cx="5" cy="5" r="5" fill={toneOf(colorOf(attempt))} />
    </svg>
  )
}

function AttemptTitle({ attempt }: { attempt: Attempt }) {
  const result = isRunning(attempt) ? 'is running' : attempt.error === null ? 'succeeded' : 'failed'
  return (
    <Text fw={600} component="h3" fz="sm">
      Attempt {attempt.number} {result}
    </Text>
  )
}

function AttemptDetails({ attempt, isLatest }: { attempt: Attempt; isLatest: boolean }) {
  const { startedAt, durationMs, responseStatus, trigger, url } = attempt
  const fault = faultOf(attempt)
  return (
    <Stack gap={6} mt={4}>
      <Group gap="md">
        <Text size="sm">
          {exactTime(startedAt)} (<Time at={startedAt} />)
        </Text>
        {durationMs !== null && <Text size="sm">took {durationText(durationMs)}</Text>}
        {responseStatus !== null && <Text size="sm">status {responseStatus}</Text>}
        <Text size="sm">{TRIGGERS[trigger]}</Text>
      </Group>
      {/* The page says first what is wrong with the latest attempt. */}
      {fault && !isLatest && responseStatus === null && <Text size="sm">{fault.said}</Text>}
      <Accordion multiple order={4} variant="contained" defaultValue={isLatest ? ['response'] : []}>
        <Accordion.Item value="request">
          <Accordion.Control>Request</Accordion.Control>
          <Accordion.Panel>
            <Stack gap="xs">
              <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                <Code>POST</Code> {url}
              </Text>
              <Headers headers={attempt.requestHeaders} none="No headers are recorded." />
            </Stack>
          </Accordion.Panel>
        </Accordion.Item>
        {responseStatus !== null && (
          <Accordion.Item value="response">
            <Accordion.Control>Response</Accordion.Control>
            <Accordion.Panel>
              <Response attempt={attempt} />
            </Accordion.Panel>
          </Accordion.Item>
        )}
      </Accordion>
    </Stack>
  )
}

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const seconds = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

const durationText = (milliseconds: number) =>
  milliseconds < 1_000
    ? `${whole.format(Math.max(milliseconds, 1))} ms`
    : `${seconds.format(milliseconds / 1_000)} s`

/** Whether the answer has no body by its status or its length. */
const hasNoBody = ({ responseStatus, responseHeaders }: Attempt) =>
  responseStatus === 204 || responseHeaders?.['content-length'] === '0'

function Response({ attempt }: { attempt: Attempt }) {
  const { number, responseHeaders, responseBody } = attempt
  return (
    <Stack gap="xs">
      <Headers
        headers={responseHeaders}
        none="The headers are not recorded, or your role does not show them."
      />
      {responseBody === '' || hasNoBody(attempt) ? (
        <Text size="sm">The body is empty.</Text>
      ) : responseBody === null ? (
        <Text size="sm">
          {responseHeaders === null
            ? 'The body is not recorded, or your role does not show it.'
            : 'The body is not recorded.'}
        </Text>
      ) : (
        <CodeBlock label={`Body of the response to attempt ${number}`} text={responseBody} maxHeight={320} />
      )}
    </Stack>
  )
}

function Headers({ headers, none }: { headers: Attempt['requestHeaders']; none: string }) {
  const entries = Object.entries(headers ?? {})
  if (entries.length === 0) return <Text size="sm">{none}</Text>
  return (
    <Table variant="vertical" layout="fixed" withTableBorder fz="xs">
      <Table.Tbody>
        {entries.map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Th w="35%" style={{ overflowWrap: 'anywhere' }}>
              {name}
            </Table.Th>
            <Table.Td ff="monospace" style={{ overflowWrap: 'anywhere' }}>
              {value}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
