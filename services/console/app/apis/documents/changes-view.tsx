import { Alert, Button, Code, Group, List, NativeSelect, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import type { Schemas } from '../../http/schemas.ts'
import { placeText } from '../../parts/place-text.ts'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Empty, Loading } from '../../parts/states.tsx'
import {
  attachedDocumentsQuery,
  changesQuery,
  type DocumentRecord,
  documentsQuery,
  isShown,
  primaryOf,
  textQuery,
  type Version,
  type VersionPath,
} from './reads.ts'
import classes from './side-by-side.module.css'
import { SideBySide, type SideBySideHandle } from './side-by-side.tsx'

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
  const { diff, data, none, other, fromDocument } = useDiff({ path, document, versions, from })
  const others = versions.filter(({ id }) => id !== path.version_id)
  const nameOf = (version: string | undefined) => versions.find(({ id }) => id === version)?.name
  const compared = {
    own: nameOf(path.version_id) ?? 'this version',
    other: nameOf(other) ?? 'the version before',
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
      {none ? (
        <Empty title="Nothing to compare with">
          {other === undefined
            ? 'There is no version before this one.'
            : `${compared.other} has no document of this kind.`}{' '}
          Choose another version above.
        </Empty>
      ) : (
        diff.isPending && <Loading what="the changes" />
      )}
      {diff.isError && (
        <ProblemPanel
          what="The documents cannot be compared"
          error={diff.error}
          onRetry={() => void diff.refetch()}
        />
      )}
      {data && (
        <>
          {fromDocument && (
            <Text size="sm">
              {compared.other} has no document {document.name}: this compares with its{' '}
              <Code>{fromDocument}</Code>.
            </Text>
          )}
          <Changes diff={data} compared={compared} path={path} document={document} />
        </>
      )}
    </Stack>
  )
}

/**
 * The changes since a version, by default the one before that has a document of the same name. If none has, they are those
 * since a document of the same kind, first of all the primary one. Nothing is asked for without one.
 */
function useDiff({ path, document, versions, from }: Omit<ChangesViewProps, 'onFrom'>) {
  const attached = useQuery(attachedDocumentsQuery(path.api_id))
  const before = versions.slice(versions.findIndex(({ id }) => id === path.version_id) + 1)
  const candidates = from === undefined ? before.map(({ id }) => id) : [from]
  const documentsOf = (id: string | undefined) => attached.data?.filter(({ version }) => version === id) ?? []
  const same = candidates.find(id => documentsOf(id).some(({ name }) => name === document.name))
  const other = same ?? candidates[0]
  const ofKind = documentsOf(other).filter(({ kind }) => kind === document.kind)
  const fromDocument = same === undefined ? primaryOf(ofKind)?.name : undefined
  const found = same !== undefined || fromDocument !== undefined
  const diff = useQuery({
    ...changesQuery(path, document, { from: other, fromDocument }),
    enabled: attached.isSuccess && found,
  })
  return {
    diff: attached.isSuccess ? diff : attached,
    data: diff.data,
    none: attached.isSuccess && !found,
    other,
    fromDocument,
  }
}

interface ChangesProps {
  diff: Diff
  compared: Compared
  path: VersionPath
  document: DocumentRecord
}

/** What breaks clients on top, below it the two documents beside each other. */
function Changes({ diff, compared, path, document }: ChangesProps) {
  const { changes, breaking, truncated, from } = diff
  const texts = useTexts(path, document, from)
  const lines = useRef<SideBySideHandle>(null)
  const isSame = texts.before !== undefined && texts.before === texts.after
  if (changes.length === 0 && (isSame || !texts.isPossible))
    return <Empty title="No changes">Both versions say the same to their clients.</Empty>
  if (changes.length === 0 && texts.after === undefined && !texts.failed)
    return <Loading what="the documents" />
  return (
    <>
      <Verdict breaking={breaking} {...compared} />
      {changes.length === 0 && <Text size="sm">Only what clients do not depend on differs, e.g. texts.</Text>}
      {truncated && (
        <Text size="sm">There are more changes than these {changes.length.toLocaleString('en')}.</Text>
      )}
      {changes.length > 0 && (
        <Stack gap="sm" className={texts.isPossible ? classes.summary : undefined}>
          {LEVELS.map(({ level, title, about }) => {
            const those = changes.filter(change => change.level === level)
            return (
              those.length > 0 && (
                <Section
                  key={level}
                  title={title}
                  about={about(compared)}
                  changes={those}
                  onShow={texts.after === undefined ? undefined : change => lines.current?.show(change)}
                />
              )
            )
          })}
        </Stack>
      )}
      {texts.failed && (
        <ProblemPanel
          what="The documents cannot be shown"
          error={texts.failed.error}
          onRetry={() => void texts.failed?.refetch()}
        />
      )}
      {texts.before !== undefined && texts.after !== undefined && (
        <SideBySide
          // Folds that were opened are those of two documents.
          key={`${from.version} ${from.document} ${document.sha256}`}
          before={{ title: `${compared.other}: ${from.document}`, text: texts.before }}
          after={{ title: `${compared.own}: ${document.name}`, text: texts.after }}
          changes={changes}
          ref={lines}
        />
      )}
    </>
  )
}

/** The texts of a document and of the one that it is compared with, once both are read. */
function useTexts(path: VersionPath, document: DocumentRecord, from: Diff['from']) {
  const other = { api_id: path.api_id, version_id: from.version }
  const documents = useQuery(documentsQuery(other))
  const earlier = documents.data?.content.find(({ name }) => name === from.document)
  const isPossible = isShown(document) && (!earlier || isShown(earlier))
  const after = useQuery({ ...textQuery(path, document), enabled: isPossible })
  const before = useQuery({
    ...textQuery(other, earlier ?? document),
    enabled: isPossible && earlier !== undefined,
  })
  const isRead = earlier && before.data !== undefined && after.data !== undefined
  return {
    isPossible,
    failed: [documents, before, after].find(({ isError }) => isError),
    ...(isRead && { before: before.data, after: after.data }),
  }
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
  /** Shows the lines of a change. Undefined while there are none. */
  onShow: ((change: Change) => void) | undefined
}

function Section({ title, about, changes, onShow }: SectionProps) {
  return (
    <section aria-label={title}>
      <Title order={3} size="h5">
        {title}: {changes.length.toLocaleString('en')}
      </Title>
      <Text size="sm">{about}</Text>
      <List size="sm" mt="xs" spacing={4}>
        {changes.map(change => (
          <List.Item key={`${change.pointer} ${change.message}`}>
            {change.message} <Place change={change} onShow={onShow} />
          </List.Item>
        ))}
      </List>
    </section>
  )
}

function Place({ change, onShow }: { change: Change } & Pick<SectionProps, 'onShow'>) {
  const { pointer, line, fromLine } = change
  const place = placeText(pointer)
  if (place === '') return null
  if (!onShow || (line === null && fromLine === null))
    return <Code style={{ overflowWrap: 'anywhere' }}>{place}</Code>
  return (
    <Button
      size="compact-xs"
      variant="default"
      maw="100%"
      className={classes.chip}
      title="Show the lines"
      onClick={() => onShow(change)}
    >
      {place}
    </Button>
  )
}
