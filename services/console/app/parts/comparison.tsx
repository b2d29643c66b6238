import { Badge, Button, Group, Modal, Paper, Radio, SimpleGrid, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { type Choice, compare, merge } from './three-way.ts'

interface ComparisonProps<Draft> {
  /** What the form edits, e.g. "API". */
  what: string
  base: Draft
  mine: Draft
  theirs: Draft
  labels: Readonly<Record<keyof Draft, string>>
  textOf: (value: Draft[keyof Draft], field: keyof Draft) => string
  saving: boolean
  onSave: (merged: Draft) => void
  onClose: () => void
}

/**
 * Shows what two people have changed in the same record, field by field, and lets the person choose what to save. It stays
 * open while the chosen values are saved.
 */
export function Comparison<Draft extends object>(props: ComparisonProps<Draft>) {
  const { base, mine, theirs } = props
  const differences = compare(base, mine, theirs)
  const [chosen, setChosen] = useState<Partial<Record<keyof Draft, Choice>>>({})
  const choiceOf = ({ field, suggestion }: (typeof differences)[number]) => chosen[field] ?? suggestion
  const open = differences.filter(difference => choiceOf(difference) === undefined).length
  const choices = Object.fromEntries(
    differences.map(difference => [difference.field, choiceOf(difference)]),
  ) as Partial<Record<keyof Draft, Choice>>
  const close = () => {
    if (!props.saving) props.onClose()
  }
  return (
    <Modal
      opened
      size="xl"
      onClose={close}
      title={`The ${props.what} has changed since you opened it`}
      closeButtonProps={{ 'aria-label': 'Back to the form' }}
    >
      <Stack>
        <Text size="sm">
          Another person has saved other values. Choose for each field which value is saved. Where only one of
          you has changed a field, that change is chosen.
        </Text>
        {differences.length === 0 && <Text size="sm">Both of you have made the same changes.</Text>}
        {differences.map(difference => {
          const { field } = difference
          return (
            <FieldChoice
              key={String(field)}
              label={props.labels[field]}
              before={props.textOf(base[field], field)}
              mine={props.textOf(mine[field], field)}
              theirs={props.textOf(theirs[field], field)}
              conflict={difference.suggestion === undefined}
              choice={choiceOf(difference)}
              onChoose={choice => setChosen({ ...chosen, [field]: choice })}
            />
          )
        })}
        <Group justify="flex-end">
          {open > 0 && (
            <Text size="sm">{open === 1 ? 'One field is' : `${open} fields are`} not chosen yet</Text>
          )}
          <Button variant="default" onClick={close} disabled={props.saving}>
            Back to the form
          </Button>
          <Button
            disabled={open > 0}
            loading={props.saving}
            onClick={() => props.onSave(merge(mine, theirs, choices))}
          >
            Save the chosen values
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

interface FieldChoiceProps {
  label: string
  before: string
  mine: string
  theirs: string
  conflict: boolean
  choice: Choice | undefined
  onChoose: (choice: Choice) => void
}

function FieldChoice({ label, before, mine, theirs, conflict, choice, onChoose }: FieldChoiceProps) {
  return (
    <Paper withBorder p="sm">
      <Radio.Group
        value={choice ?? ''}
        onChange={value => onChoose(value as Choice)}
        label={
          <Group gap="xs" component="span">
            {label}
            {conflict && (
              <Badge component="span" color="red" variant="light" tt="none">
                Both of you have changed it
              </Badge>
            )}
          </Group>
        }
      >
        <SimpleGrid cols={{ base: 1, sm: 3 }} mt="xs">
          <Stack gap={4}>
            <Text size="sm" fw={500}>
              Before
            </Text>
            <Value text={before} />
          </Stack>
          <Stack gap={4}>
            <Radio value="mine" label="Mine" />
            <Value text={mine} />
          </Stack>
          <Stack gap={4}>
            <Radio value="theirs" label="Theirs" />
            <Value text={theirs} />
          </Stack>
        </SimpleGrid>
      </Radio.Group>
    </Paper>
  )
}

const Value = ({ text }: { text: string }) => (
  <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
    {text === '' ? <em>empty</em> : text}
  </Text>
)
