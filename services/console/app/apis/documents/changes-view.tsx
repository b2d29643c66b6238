import { Alert, Code, Group, List, NativeSelect, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { RequestFailed } from '../../http/problem.ts'
import type { Schemas } from '../../http/schemas.ts'
import { placeText } from '../../parts/place-text.ts'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Empty, Loading } from '../../parts/states.tsx'
import { changesQuery, type DocumentRecord, documentsQuery, type Version, type VersionPath } from './reads.ts'

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

interface Compared {
  /** Name of the shown version. */
  own: string
  /** Name of the version that it is compared with. */
  other: string
}

const LEVELS: readonly { level: Change['level']; title: string; about(compared: Compared): string }[] = [
  {
    level: 'BREAKING',
    title: 'Breaks clients',
    about: ({ own, other }) => `Clients of ${other} fail with ${own} here.`,
  },
  { level: 'UNCLEAR', title: 'May break clients', about: () => 'It depends on how clients use it.' },
  {
    level: 'COMPATIBLE',
    title: 'Compatible',
    about: ({ own, other }) => `Clients of ${other} keep working with ${own}.`,
  },
]

/** What changed in a document since another version: first what breaks clients. */
export function ChangesView({ path, document, versions, from, onFrom }: ChangesViewProps) {
  const { diff, from: found, fromDocument } = useDiff({ path, document, versions, from })
  const others = versions.filter(({ id }) => id !== path.version_id)
  const nameOf = (version: string | undefined) => versions.find(({ id }) => id === version)?.name
  const compared = {
    own: nameOf(path.version_id) ?? 'this version',
    other: nameOf(found) ?? 'the version before',
  }
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
      {diff.isError && (
        <NotCompared
          error={diff.error}
          missing={
            found === undefined
              ? 'There is no version before this one.'
              : `${compared.other} has no document of this kind.`
          }
          onRetry={() => void diff.refetch()}
        />
      )}
      {diff.data && (
        <>
          {fromDocument && (
            <Text size="sm">
              {compared.other} has no document {document.name}: this compares with its{' '}
              <Code>{fromDocument}</Code>.
            </Text>
          )}
          <Changes diff={diff.data} compared={compared} />
        </>
      )}
    </Stack>
  )
}

/**
 * The changes since a version. If that has no document of the same name, they are those since one of the same kind, first
 * of all its primary one.
 */
function useDiff({ path, document, versions, from }: Omit<ChangesViewProps, 'onFrom'>) {
  const byName = useQuery(changesQuery(path, document, { from }))
  const isMissing = byName.isError && isNotFound(byName.error)
  const other = from ?? versions[versions.findIndex(({ id }) => id === path.version_id) + 1]?.id
  const documents = useQuery({
    ...documentsQuery({ ...path, version_id: other ?? '' }),
    enabled: isMissing && other !== undefined,
  })
  const ofKind = documents.data?.content.filter(({ kind }) => kind === document.kind) ?? []
  const fromDocument = isMissing ? (ofKind.find(({ primary }) => primary) ?? ofKind[0])?.name : undefined
  const byKind = useQuery({
    ...changesQuery(path, document, { from: other, fromDocument }),
    enabled: fromDocument !== undefined,
  })
  if (fromDocument !== undefined) return { diff: byKind, from: other, fromDocument }
  return { diff: documents.isLoading ? documents : byName, from: isMissing ? other : from, fromDocument }
}

const isNotFound = (error: Error) =>
  error instanceof RequestFailed && error.problem.code === 'document-not-found'

interface NotComparedProps {
  error: Error
  /** What is missing. */
  missing: string
  onRetry: () => void
}

function NotCompared({ error, missing, onRetry }: NotComparedProps) {
  if (isNotFound(error))
    return <Empty title="Nothing to compare with">{missing} Choose another version above.</Empty>
  return <ProblemPanel what="The documents cannot be compared" error={error} onRetry={onRetry} />
}

interface ChangesProps {
  diff: Diff
  compared: Compared
}

function Changes({ diff: { changes, breaking, truncated }, compared }: ChangesProps) {
  if (changes.length === 0)
    return <Empty title="No changes">Both versions say the same to their clients.</Empty>
  return (
    <>
      <Verdict breaking={breaking} {...compared} />
      {truncated && (
        <Text size="sm">There are more changes than these {changes.length.toLocaleString('en')}.</Text>
      )}
      {LEVELS.map(({ level, title, about }) => {
        const those = changes.filter(change => change.level === level)
        return (
          those.length > 0 && <Section key={level} title={title} about={about(compared)} changes={those} />
        )
      })}
    </>
  )
}

function Verdict({ breaking, own, other }: Pick<Diff, 'breaking'> & Compared) {
  if (breaking) return <Alert color="red" title={`${own} breaks clients of ${other}`} role="status" />
  if (breaking === null)
    return <Alert color="yellow" title={`${own} may break clients of ${other}`} role="status" />
  return <Alert color="green" title={`Clients of ${other} keep working with ${own}`} role="status" />
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
                <Code style={{ overflowWrap: 'anywhere' }}>{placeText(pointer)}</Code>
              </>
            )}
          </List.Item>
        ))}
      </List>
    </section>
  )
}
