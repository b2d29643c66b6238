import {
  Alert,
  Anchor,
  Box,
  Button,
  Checkbox,
  Group,
  Highlight,
  Paper,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import type { Schemas } from '../http/schemas.ts'
import { useSession } from '../http/session.ts'
import { CodeBlock } from '../parts/copy.tsx'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Empty, Loading } from '../parts/states.tsx'
import { groupsOf } from './event-groups.ts'
import { eventTypesQuery } from './webhook-queries.ts'

type EventType = Schemas['EventType']

interface EventPickerProps {
  selected: readonly EventType['name'][]
  onChange: (selected: readonly EventType['name'][]) => void
  error?: string | undefined
}

/** Selects event types from the catalogue, which has a description and an example of each. */
export function EventPicker(props: EventPickerProps) {
  const { selected, onChange, error } = props
  const [search, setSearch] = useState('')
  const types = useQuery(eventTypesQuery)
  if (types.isPending) return <Loading what="the event types" />
  if (types.isError)
    return (
      <ProblemPanel
        what="The event types cannot be listed"
        error={types.error}
        onRetry={() => types.refetch()}
      />
    )
  const groups = groupsOf(types.data, search)
  return (
    <Stack>
      <TextInput
        type="search"
        label="Search event types"
        placeholder="e.g. deployed, or version"
        value={search}
        onChange={event => setSearch(event.currentTarget.value)}
      />
      {error && (
        <Alert color="red" role="alert">
          Event types: {error}
        </Alert>
      )}
      <Group justify="space-between" mih={30}>
        <Text size="sm" role="status">
          {selected.length} of {types.data.length} event types selected
        </Text>
        {selected.length > 0 && (
          <Button size="compact-sm" variant="subtle" onClick={() => onChange([])}>
            Clear the selection
          </Button>
        )}
      </Group>
      {groups.length === 0 && <Empty title="No event type matches">Change the search.</Empty>}
      {groups.map(([name, members]) => (
        <EventGroup key={name} name={name} members={members} search={search} {...props} />
      ))}
    </Stack>
  )
}

interface EventGroupProps extends EventPickerProps {
  name: string
  members: readonly EventType[]
  search: string
}

function EventGroup({ name, members, search, selected, onChange }: EventGroupProps) {
  const scopes = useSession()?.scopes ?? []
  const allowed = members.filter(({ scope }) => scopes.includes(scope)).map(type => type.name)
  const chosen = allowed.filter(type => selected.includes(type))
  const without = (types: readonly string[]) => selected.filter(each => !types.includes(each))
  return (
    <Paper withBorder component="fieldset" m={0} p={0} style={{ minWidth: 0 }}>
      <Box component="legend" style={{ position: 'absolute', clipPath: 'inset(50%)' }}>
        {name}
      </Box>
      <Box px="md" py="xs" style={{ borderBottom: '1px solid var(--mantine-color-default-border)' }}>
        <Checkbox
          label={<Text fw={600}>{name}</Text>}
          aria-label={`All event types of: ${name}`}
          disabled={allowed.length === 0}
          checked={allowed.length > 0 && chosen.length === allowed.length}
          indeterminate={chosen.length > 0 && chosen.length < allowed.length}
          onChange={event =>
            onChange(event.currentTarget.checked ? [...without(allowed), ...allowed] : without(allowed))
          }
        />
      </Box>
      {members.map(type => (
        <EventOption
          key={type.name}
          type={type}
          search={search}
          allowed={allowed.includes(type.name)}
          checked={selected.includes(type.name)}
          onChange={checked => onChange(checked ? [...selected, type.name] : without([type.name]))}
        />
      ))}
    </Paper>
  )
}

interface EventOptionProps {
  type: EventType
  search: string
  /** Whether the session has the scope of the type. */
  allowed: boolean
  checked: boolean
  onChange: (checked: boolean) => void
}

function EventOption({ type, search, allowed, checked, onChange }: EventOptionProps) {
  const [opened, setOpened] = useState(false)
  const about = useId()
  const words = search.split(/\s+/).filter(Boolean)
  return (
    <Box px="md" py="xs">
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Checkbox
          checked={checked}
          disabled={!allowed && !checked}
          onChange={event => onChange(event.currentTarget.checked)}
          aria-label={type.name}
          aria-describedby={about}
          label={
            <>
              <Highlight highlight={words} ff="monospace" size="sm" style={{ overflowWrap: 'anywhere' }}>
                {type.name}
              </Highlight>
              <Text id={about} component="span" display="block" size="xs" c="dimmed">
                <Highlight highlight={words} span inherit>
                  {type.description}
                </Highlight>
                {!allowed && `. Needs the scope ${type.scope}, which your session does not have`}
              </Text>
            </>
          }
        />
        <Anchor
          component="button"
          type="button"
          size="sm"
          aria-expanded={opened}
          aria-label={`Example of ${type.name}`}
          onClick={() => setOpened(!opened)}
        >
          Example
        </Anchor>
      </Group>
      {opened && (
        <Box mt="xs">
          <CodeBlock
            label={`Example payload of ${type.name}`}
            text={JSON.stringify(type.example, null, 2)}
            maxHeight={320}
          />
        </Box>
      )}
    </Box>
  )
}
