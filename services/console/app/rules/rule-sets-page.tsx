import { AnchorLink, ButtonLink } from '../parts/links.tsx'
import '../more-styles.ts'
import { Badge, Group, Progress, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../http/schemas.ts'
import { useAllowed } from '../http/session.ts'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Loading } from '../parts/states.tsx'
import { ruleSetsQuery } from './reads.ts'
import { KINDS } from './rule-set-draft.ts'

type RuleSet = Schemas['RuleSet']

/** The rule sets that documents are checked with, and how far each has been applied. */
export function RuleSetsPage() {
  const mayWrite = useAllowed('RULE_SETS_WRITE')
  const ruleSets = useQuery(ruleSetsQuery)
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={1} size="h2">
          Rule sets
        </Title>
        {mayWrite && <ButtonLink to="/rule-sets/new">Create rule set</ButtonLink>}
      </Group>
      <Text size="sm">
        Documents are checked with every rule set that is applied. Each broken rule takes a part of its 100
        points: more for an error than for a warning, and more for many places than for one.
      </Text>
      {ruleSets.isPending && <Loading what="the rule sets" />}
      {ruleSets.isError && (
        <ProblemPanel
          what="The rule sets cannot be listed"
          error={ruleSets.error}
          onRetry={() => void ruleSets.refetch()}
        />
      )}
      {ruleSets.data && (
        <Table.ScrollContainer minWidth={560}>
          <Table verticalSpacing="sm" aria-label="Rule sets">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Name</Table.Th>
                <Table.Th>Documents</Table.Th>
                <Table.Th>Applied</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {ruleSets.data.content.map(ruleSet => (
                <Row key={ruleSet.id} ruleSet={ruleSet} />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Stack>
  )
}

function Row({ ruleSet: { id, name, description, builtIn, kinds, progress } }: { ruleSet: RuleSet }) {
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap="xs">
          <AnchorLink to="/rule-sets/$ruleSetId" params={{ ruleSetId: id }} fw={600}>
            {name}
          </AnchorLink>
          {builtIn && <Badge size="sm">Built in</Badge>}
        </Group>
        {description && <Text size="sm">{description}</Text>}
      </Table.Td>
      <Table.Td>
        {KINDS.filter(({ value }) => kinds.includes(value))
          .map(({ label }) => label)
          .join(', ')}
      </Table.Td>
      <Table.Td>
        <Applied progress={progress} />
      </Table.Td>
    </Table.Tr>
  )
}

/** How many documents a rule set has been applied to. */
export function Applied({ progress }: Pick<RuleSet, 'progress'>) {
  if (!progress) return 'No'
  const { linted, total } = progress
  if (linted >= total)
    return total === 1 ? 'To the only document' : `To all ${total.toLocaleString('en')} documents`
  return (
    <Stack gap={4}>
      <Text size="sm">
        To {linted.toLocaleString('en')} of {total.toLocaleString('en')} documents
      </Text>
      <Progress value={(100 * linted) / total} aria-label="Documents that the rules were applied to" />
    </Stack>
  )
}
