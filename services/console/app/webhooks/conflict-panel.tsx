import { Alert, Button, Group, Stack, Table, Text } from '@mantine/core'
import { type Draft, FIELD_LABELS, FORMATS, isSame } from './draft.ts'

interface ConflictPanelProps {
  /** The state that the form began with. */
  base: Draft
  /** The state that somebody else has saved since. */
  theirs: Draft
  /** The form. */
  mine: Draft
  onTakeOver: () => void
}

/** Shows what somebody else has changed while the form was open, beside what the form changes. */
export function ConflictPanel({ base, theirs, mine, onTakeOver }: ConflictPanelProps) {
  const fields = (Object.keys(base) as (keyof Draft)[]).filter(
    field => !isSame(field, base, theirs) || !isSame(field, base, mine),
  )
  return (
    <Alert color="yellow" role="alert" title="Somebody else has changed this webhook">
      <Stack gap="sm">
        <Text size="sm">
          Nothing was saved. Your form is kept. Take over the changes of the other person, then look at the
          form and save it: fields that you have changed keep your values, the others get the current ones.
        </Text>
        <Table.ScrollContainer minWidth={560}>
          <Table aria-label="Changes of both">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Field</Table.Th>
                <Table.Th>When you began</Table.Th>
                <Table.Th>Now</Table.Th>
                <Table.Th>In your form</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {fields.map(field => (
                <Table.Tr key={field}>
                  <Table.Th scope="row">{FIELD_LABELS[field]}</Table.Th>
                  <Value text={textOf(field, base)} />
                  <Value text={textOf(field, theirs)} changed={!isSame(field, base, theirs)} />
                  <Value text={textOf(field, mine)} changed={!isSame(field, base, mine)} />
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
        <Group>
          <Button size="xs" variant="default" onClick={onTakeOver}>
            Take over the other changes
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}

function Value({ text, changed = false }: { text: string; changed?: boolean }) {
  return (
    <Table.Td fw={changed ? 700 : undefined} style={{ overflowWrap: 'anywhere' }}>
      {text}
    </Table.Td>
  )
}

function textOf(field: keyof Draft, draft: Draft): string {
  const value = draft[field]
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (field === 'format') return FORMATS[draft.format].label
  return typeof value === 'string' ? value || '(empty)' : value.join(', ')
}
