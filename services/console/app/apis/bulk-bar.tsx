import { Button, Group, Paper, Text } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import styles from './bulk-bar.module.css'
import type { BulkAction } from './bulk-change.ts'
import type { ApiList } from './search.ts'
import { countOf, type Selecting } from './selection.ts'

const loadDialog = () => import('./bulk-dialog.tsx')
const BulkDialog = lazy(async () => ({ default: (await loadDialog()).BulkDialog }))

const ACTIONS = [
  { type: 'tags', label: 'Tags' },
  { type: 'owner', label: 'Owner' },
  { type: 'status', label: 'Status' },
  { type: 'delete', label: 'Delete' },
] as const satisfies readonly { type: BulkAction; label: string }[]

/** Whether the list has filters or a search. */
const isNarrowed = ({ sort: _, ...filters }: ApiList) => Object.keys(filters).length > 0

interface BulkBarProps {
  list: ApiList
  total: number
  selecting: Selecting
}

/** The number of selected APIs and what can be done to them. */
export function BulkBar({ list, total, selecting }: BulkBarProps) {
  const [action, setAction] = useState<BulkAction>()
  const count = countOf(selecting.selection)
  if (count === 0 && !action) return null
  return (
    <Paper
      withBorder
      shadow="md"
      px="sm"
      py="xs"
      className={styles.bar}
      component="section"
      aria-label="Selection"
    >
      <Group gap="xs">
        <Text size="sm" fw={600} role="status">
          {count.toLocaleString('en')} selected
        </Text>
        {count < total && (
          <Button size="compact-sm" variant="subtle" onClick={() => selecting.selectAll(total)}>
            Select all {total.toLocaleString('en')} {isNarrowed(list) ? 'that match' : 'APIs'}
          </Button>
        )}
        <Button size="compact-sm" variant="subtle" onClick={selecting.clear}>
          Clear selection
        </Button>
        <Group gap="xs" className={styles.actions} role="group" aria-label="Change the selected APIs">
          {ACTIONS.map(({ type, label }) => (
            <Button
              key={type}
              size="compact-sm"
              variant={type === 'delete' ? 'outline' : 'default'}
              {...(type === 'delete' && { color: 'red' })}
              onMouseEnter={loadDialog}
              onFocus={loadDialog}
              onClick={() => setAction(type)}
            >
              {label}
            </Button>
          ))}
        </Group>
      </Group>
      {action && (
        <Suspense>
          <BulkDialog
            action={action}
            list={list}
            selection={selecting.selection}
            onClose={allDone => {
              setAction(undefined)
              if (allDone) selecting.clear()
            }}
          />
        </Suspense>
      )}
    </Paper>
  )
}
