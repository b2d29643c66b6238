import { Group, Stack, Text, Title } from '@mantine/core'
import classes from './audit.module.css'
import { differences } from './differences.ts'
import type { Entry } from './entries.ts'

/** The fields that an entry has changed, with their old and new values. */
export function EntryChanges({
  details: { before, after },
  environment,
}: Pick<Entry, 'details' | 'environment'>) {
  const changed = differences(before, after)
  return (
    <div>
      <Title order={3} size="h5" mb={6}>
        Changes
      </Title>
      {changed.length === 0 && <Text size="sm">No field has changed.</Text>}
      {environment !== null && (
        <Text size="sm" mb={6}>
          The status is that of all environments of the API together.
        </Text>
      )}
      <Stack gap="xs" component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {changed.map(({ path, before: former, after: present }) => (
          <li key={path}>
            <Group gap="xs" justify="space-between">
              <Text size="xs" fw={600} ff="monospace">
                {path}
              </Text>
            </Group>
            <div className={classes.value}>
              {former !== undefined && <Value kind="before" label="Before" sign="−" value={former} />}
              {present !== undefined && <Value kind="after" label="After" sign="+" value={present} />}
            </div>
          </li>
        ))}
      </Stack>
    </div>
  )
}

interface ValueProps {
  kind: 'before' | 'after'
  label: string
  sign: string
  value: unknown
}

function Value({ kind, label, sign, value }: ValueProps) {
  const Element = kind === 'before' ? 'del' : 'ins'
  return (
    <Element className={classes[kind]} aria-label={label}>
      <span aria-hidden>{sign}</span>
      <span>{typeof value === 'string' ? value : JSON.stringify(value, null, 1)}</span>
    </Element>
  )
}
