import { Alert, Code, Group, List, NativeSelect, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { RequestFailed } from '../../http/problem.ts'
import type { Schemas } from '../../http/schemas.ts'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Empty, Loading } from '../../parts/states.tsx'
import { changesQuery, type DocumentRecord, type Version, type VersionPath } from './reads.ts'

type Diff = Schemas['DocumentDiff']
type Change = Schemas['DocumentChange']

interface ChangesViewProps {
  path: VersionPath
  document: DocumentRecord
  versions: readonly Version[]
  /** Id of the version to compare with; undefined for the one before. */
  from: string | undefined
  onFrom: (from: string | undefined) => void
}

const LEVELS: readonly { level: Change['level']; title: string; about: string }[] = [
  { level: 'BREAKING', title: 'Breaks clients', about: 'Clients of the earlier version fail here.' },
  { level: 'UNCLEAR', title: 'May break clients', about: 'It depends on how clients use it.' },
  { level: 'COMPATIBLE', title: 'Compatible', about: 'Clients of the earlier version keep working.' },
]

/** What changed in a document since another version: first what breaks clients. */
export function ChangesView({ path, document, versions, from, onFrom }: ChangesViewProps) {
  const diff = useQuery(changesQuery(path, document, from))
  const others = versions.filter(({ id }) => id !== path.version_id)
  return (
    <Stack gap="sm">
      <Group>
        <NativeSelect
          label="Compare with version"
          data={[
            { value: '', label: 'The one before' },
            ...others.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          value={from ?? ''}
          onChange={event => onFrom(event.currentTarget.value || undefined)}
        />
      </Group>
      {diff.isPending && <Loading what="the changes" />}
      {diff.isError && <NotCompared error={diff.error} onRetry={() => void diff.refetch()} />}
      {diff.data && <Changes diff={diff.data} />}
    </Stack>
  )
}

function NotCompared({ error, onRetry }: { error: Error; onRetry: () => void }) {
  if (error instanceof RequestFailed && error.problem.code === 'document-not-found')
    return (
      <Empty title="Nothing to compare with">
        This version has the first document of this name. Choose another version above.
      </Empty>
    )
  return <ProblemPanel what="The documents cannot be compared" error={error} onRetry={onRetry} />
}

function Changes({ diff: { changes, breaking, truncated } }: { diff: Diff }) {
  if (changes.length === 0)
    return <Empty title="No changes">Both versions say the same to their clients.</Empty>
  return (
    <>
      <Verdict breaking={breaking} />
      {truncated && (
        <Text size="sm">There are more changes than these {changes.length.toLocaleString('en')}.</Text>
      )}
      {LEVELS.map(({ level, title, about }) => {
        const those = changes.filter(change => change.level === level)
        return those.length > 0 && <Section key={level} title={title} about={about} changes={those} />
      })}
    </>
  )
}

function Verdict({ breaking }: Pick<Diff, 'breaking'>) {
  if (breaking)
    return <Alert color="red" title="This version breaks clients of the other one" role="status" />
  if (breaking === null) return <Alert color="yellow" title="This version may break clients" role="status" />
  return <Alert color="green" title="Clients of the other version keep working" role="status" />
}

interface SectionProps {
  title: string
  about: string
  changes: readonly Change[]
}

function Section({ title, about, changes }: SectionProps) {
  return (
    <section aria-label={title}>
      <Title order={3} size="h5">
        {title}: {changes.length.toLocaleString('en')}
      </Title>
      <Text size="sm">{about}</Text>
      <List size="sm" mt="xs" spacing={4}>
        {changes.map(({ pointer, message }) => (
          <List.Item key={`${pointer} ${message}`}>
            {message}
            {pointer !== '' && (
              <>
                {' '}
                <Code style={{ overflowWrap: 'anywhere' }}>{pointer}</Code>
              </>
            )}
          </List.Item>
        ))}
      </List>
    </section>
  )
}
