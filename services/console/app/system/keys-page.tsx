import '../more-styles.ts'
import { Code, Paper, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answer, client } from '../http/client.ts'
import type { Schemas } from '../http/schemas.ts'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { StateBadge } from '../parts/state-badge.tsx'
import { Loading } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { SystemHeading } from './heading.tsx'

type Key = Schemas['SigningKey']

const PURPOSES = [
  {
    purpose: 'LOGIN',
    title: 'Login tokens',
    text: 'These keys sign the tokens that a login by password returns.',
  },
  {
    purpose: 'AUDIT',
    title: 'Audit proofs',
    text: 'These keys sign the roots of the audit log, so that exports can be verified. They are never accepted for a login.',
  },
] as const

const STATUS: Readonly<Record<Key['status'], readonly [color: string, text: string, meaning: string]>> = {
  NEXT: ['blue', 'Next', 'Published already, signs later'],
  CURRENT: ['teal', 'Current', 'Signs now'],
  RETIRED: ['gray', 'Retired', 'Signs no longer; its signatures are accepted until they expire'],
  REVOKED: ['red', 'Revoked', 'Its signatures are refused'],
}

/** The keys that sign login tokens and audit proofs, with their state. */
export function KeysPage() {
  const keys = useQuery({
    queryKey: ['signingKeys'],
    queryFn: ({ signal }) => answer(client.listSigningKeys({}, { signal })),
  })
  return (
    <Stack gap="lg">
      <SystemHeading title="Signing keys" />
      <Text size="sm" maw="46rem">
        Only the public parts leave the service. A key is rotated on a schedule, or by the operator with{' '}
        <Code>npm run rotate-keys</Code>; programs that verify signatures read the keys at{' '}
        <Code>/.well-known</Code>.
      </Text>
      {keys.isPending && <Loading what="the signing keys" />}
      {keys.isError && (
        <ProblemPanel
          what="The signing keys cannot be listed"
          error={keys.error}
          onRetry={() => void keys.refetch()}
        />
      )}
      {keys.data &&
        PURPOSES.map(({ purpose, title, text }) => (
          <Stack gap="xs" key={purpose}>
            <Title order={2} size="h4">
              {title}
            </Title>
            <Text size="sm">{text}</Text>
            <KeyTable title={title} keys={keys.data.filter(key => key.purpose === purpose)} />
          </Stack>
        ))}
    </Stack>
  )
}

function KeyTable({ title, keys }: { title: string; keys: readonly Key[] }) {
  if (keys.length === 0) return <Text size="sm">There is no key yet. The first use makes one.</Text>
  return (
    <Paper withBorder>
      <Table.ScrollContainer minWidth={0} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table aria-label={`Keys for ${title.toLowerCase()}`} verticalSpacing="sm">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Key id</Table.Th>
              <Table.Th visibleFrom="sm">State</Table.Th>
              <Table.Th visibleFrom="sm">Signs from</Table.Th>
              <Table.Th visibleFrom="sm">Signs until</Table.Th>
              <Table.Th visibleFrom="sm">Accepted until</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {keys.map(key => (
              <KeyRow key={key.kid} of={key} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  )
}

function KeyRow({ of: key }: { of: Key }) {
  const [color, text, meaning] = STATUS[key.status]
  const until = key.retiredAt ? <Time at={key.retiredAt} /> : 'the next rotation'
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={400}>
        <Code style={{ overflowWrap: 'anywhere' }}>{key.kid}</Code>
        <Text size="xs" component="div" mt={4} hiddenFrom="sm">
          <StateBadge color={color}>{text}</StateBadge> {meaning}
        </Text>
        <Text size="xs" mt={4} hiddenFrom="sm">
          Signs from <Time at={key.signsFrom} /> until {until}. Accepted until: <Accepted {...key} />
        </Text>
      </Table.Th>
      <Table.Td visibleFrom="sm">
        <Stack gap={2} align="start">
          <StateBadge color={color}>{text}</StateBadge>
          <Text size="xs">{meaning}</Text>
        </Stack>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <Time at={key.signsFrom} />
      </Table.Td>
      <Table.Td visibleFrom="sm">{until}</Table.Td>
      <Table.Td visibleFrom="sm">
        <Accepted {...key} />
      </Table.Td>
    </Table.Tr>
  )
}

function Accepted({ revokedAt, acceptedUntil }: Key) {
  if (revokedAt)
    return (
      <>
        revoked <Time at={revokedAt} />
      </>
    )
  return acceptedUntil ? <Time at={acceptedUntil} /> : 'no end is known'
}
