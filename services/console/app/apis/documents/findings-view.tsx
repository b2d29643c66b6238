import { Button, Stack, Text } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Empty, Loading } from '../../parts/states.tsx'
import { type DocumentRecord, findingsQuery, textQuery, type VersionPath } from './reads.ts'
import { SourceLines } from './source-lines.tsx'

/** The source of a document with the findings in it. */
export function FindingsView({ path, document }: { path: VersionPath; document: DocumentRecord }) {
  const findings = useInfiniteQuery(findingsQuery(path, document))
  const text = useQuery(textQuery(path, document))
  const failed = [findings, text].find(({ isError }) => isError)
  if (failed)
    return (
      <ProblemPanel
        what="The findings cannot be shown"
        error={failed.error}
        onRetry={() => void failed.refetch()}
      />
    )
  if (!findings.data || text.data === undefined) return <Loading what="the findings" />
  const notes = findings.data.pages.flatMap(({ content }) =>
    content.map(({ ruleSet, code, message, ...place }) => ({
      ...place,
      message: ruleSet === null ? message : `${message} (${ruleSet}: ${code})`,
    })),
  )
  if (notes.length === 0)
    return <Empty title="No findings">The document follows the rules of its kind.</Empty>
  return (
    <Stack gap="xs">
      <Text size="sm">
        The document is stored as it is. It breaks rules at the places below.
        {document.score !== null &&
          ' Each broken rule takes a part of the 100 points: errors more, and many places more than one.'}
      </Text>
      <SourceLines label={document.name} text={text.data} notes={notes} />
      {findings.hasNextPage && (
        <Button
          variant="default"
          loading={findings.isFetchingNextPage}
          onClick={() => findings.fetchNextPage()}
          style={{ alignSelf: 'center' }}
        >
          Show more findings
        </Button>
      )}
    </Stack>
  )
}
