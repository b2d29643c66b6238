import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Schemas } from '../../http/schemas.ts'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { RULES } from '../../parts/rule-names.ts'
import { Empty, Loading } from '../../parts/states.tsx'
import { type DocumentRecord, findingsQuery, textQuery, type VersionPath } from './reads.ts'
import { type NoteGroup, SourceLines } from './source-lines.tsx'

/** The source of a document with the findings in it, by rule. */
export function FindingsView({ path, document }: { path: VersionPath; document: DocumentRecord }) {
  const findings = useQuery(findingsQuery(path, document))
  const text = useQuery(textQuery(path, document))
  const groups = useMemo(() => groupsOf(findings.data), [findings.data])
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
  if (groups.length === 0 && (document.score ?? 100) < 100)
    return <Empty title="The rules are being applied again">The findings are shown after that.</Empty>
  if (groups.length === 0)
    return <Empty title="No findings">The document follows the rules of its kind.</Empty>
  return (
    <Stack gap="xs">
      <Text size="sm">
        {sumOf(groups)} The document can be used all the same.
        {document.score !== null &&
          ' Each broken rule lowers the score: an error by more than a warning, many places by more than one.'}
      </Text>
      <SourceLines label={document.name} text={text.data} groups={groups} />
    </Stack>
  )
}

type Findings = Pick<Schemas['FindingPage'], 'content' | 'rules'>
type Rule = Pick<Schemas['BrokenRule'], 'ruleSet' | 'code' | 'severity'>

const keyOf = ({ ruleSet, code, severity }: Rule) => `${severity} ${code} ${ruleSet}`

/** Errors first, and the rules that are broken most. */
function groupsOf(found: Findings | undefined): NoteGroup[] {
  if (!found) return []
  const notes = Map.groupBy(found.content, keyOf)
  return found.rules
    .map(rule => {
      const own = notes.get(keyOf(rule)) ?? []
      const isAlike = own.every(({ message }) => message === own[0]?.message)
      return {
        severity: rule.severity,
        title: (isAlike && own[0]?.message) || (RULES[rule.code] ?? TITLES[rule.code] ?? rule.code),
        source: rule.ruleSet === null ? 'Check of the document’s kind' : `${rule.code} in ${rule.ruleSet}`,
        count: rule.places,
        notes: own,
      }
    })
    .toSorted(
      (a, b) => Number(a.severity === 'WARNING') - Number(b.severity === 'WARNING') || b.count - a.count,
    )
}

const TITLES: Readonly<Record<string, string>> = {
  'schema-violation': 'What the specification of the format does not allow',
  'unresolved-reference': 'References to what does not exist',
  'operation-id-shared': 'Operations that share an operationId',
}

/** E.g. `102 errors of 3 rules, 1 warning of 1 rule.` */
function sumOf(groups: readonly NoteGroup[]): string {
  const parts = (['ERROR', 'WARNING'] as const).flatMap(severity => {
    const own = groups.filter(group => group.severity === severity)
    const places = own.reduce((sum, { count }) => sum + count, 0)
    const what = severity === 'ERROR' ? 'error' : 'warning'
    return own.length > 0 ? [`${counted(places, what)} of ${counted(own.length, 'rule')}`] : []
  })
  return `${parts.join(', ')}.`
}

const counted = (count: number, what: string) =>
  `${count.toLocaleString('en')} ${count === 1 ? what : `${what}s`}`
