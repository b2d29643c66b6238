import { Code, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../http/schemas.ts'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { RULES } from '../parts/rule-names.ts'
import { StateBadge } from '../parts/state-badge.tsx'
import { Loading } from '../parts/states.tsx'
import { effectiveRulesQuery } from './reads.ts'

/** The rules that a stored rule set applies, those of the sets that it extends included. */
export function EffectiveRules({ ruleSet }: { ruleSet: Schemas['RuleSet'] }) {
  const rules = useQuery(effectiveRulesQuery(ruleSet))
  const content = rules.data?.content.toSorted(
    (a, b) => (a.severity < b.severity ? -1 : 1) * Number(a.severity !== b.severity),
  )
  const errors = content?.filter(({ severity }) => severity === 'ERROR').length ?? 0
  return (
    <Stack gap="xs" component="section" aria-label="Rules in effect">
      <Title order={2} size="h4">
        Rules in effect
      </Title>
      {rules.isPending && <Loading what="the rules" />}
      {rules.isError && (
        <ProblemPanel
          what="The rules cannot be listed"
          error={rules.error}
          onRetry={() => void rules.refetch()}
        />
      )}
      {content && (
        <>
          <Text size="sm">
            {errors} find errors and {content.length - errors} find warnings. Those of the extended sets are
            included.
          </Text>
          <Table aria-label="Rules in effect" verticalSpacing={6}>
            <Table.Tbody>
              {content.map(rule => (
                <Rule key={`${rule.name} ${rule.severity}`} rule={rule} />
              ))}
            </Table.Tbody>
          </Table>
        </>
      )}
    </Stack>
  )
}

const Rule = ({ rule: { name, severity, formats } }: { rule: Schemas['EffectiveRule'] }) => (
  <Table.Tr>
    <Table.Td w={110} style={{ verticalAlign: 'top' }}>
      <StateBadge color={severity === 'ERROR' ? 'red' : 'orange'}>
        {severity === 'ERROR' ? 'Error' : 'Warning'}
      </StateBadge>
    </Table.Td>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>
      <Text size="sm">{RULES[name] ?? 'A rule of this set'}</Text>
      <Text size="xs">
        <Code>{name}</Code> {formatsText(formats)}
      </Text>
    </Table.Td>
  </Table.Tr>
)

/** E.g. `OpenAPI 3.0, 3.1, AsyncAPI 2` */
function formatsText(formats: Schemas['EffectiveRule']['formats']): string {
  const of = (prefix: string) =>
    formats
      .filter(format => format.startsWith(prefix))
      .map(format => format.slice(prefix.length).replace('_', '.'))
      .join(', ')
  return [of('oas') && `OpenAPI ${of('oas')}`, of('async') && `AsyncAPI ${of('async')}`]
    .filter(Boolean)
    .join(', ')
}
