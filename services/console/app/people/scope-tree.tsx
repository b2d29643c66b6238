import '@mantine/core/styles/CheckboxIndicator.css'
import { Box, Checkbox, Highlight, Paper, Text } from '@mantine/core'
import { type KeyboardEvent, type Ref, useState } from 'react'
import type { Scope } from '../http/schemas.ts'
import classes from './scope-tree.module.css'
import type { ScopeGroup } from './scopes.ts'

interface ScopeTreeProps {
  ref: Ref<HTMLDivElement>
  groups: readonly ScopeGroup[]
  /** What was searched for, which is marked. A searched tree is expanded. */
  search: string
  invalid: boolean
  selected: readonly Scope[]
  onChange: (selected: Scope[]) => void
}

type Checked = boolean | 'mixed'

/** A visible line of the tree: a group, or a scope in it. */
interface Row {
  id: string
  group: ScopeGroup
  level: 1 | 2
  label: string
  text: string
  scopes: readonly Scope[]
  checked: Checked
  expanded?: boolean
  position: number
  size: number
}

/**
 * Scopes by group with a check box each, as a tree view of the ARIA Authoring Practices: one tab stop, arrow keys to move,
 * right and left to expand and collapse, space to check.
 */
export function ScopeTree({ ref, groups, search, invalid, selected, onChange }: ScopeTreeProps) {
  const [collapsed, setCollapsed] = useState<readonly string[]>(() =>
    groups.filter(({ platform }) => platform).map(({ name }) => name),
  )
  const [active, setActive] = useState<string>()
  const words = search.split(/\s+/).filter(Boolean)
  const rows = rowsOf(groups, selected, words.length > 0 ? [] : collapsed)
  const current = rows.find(({ id }) => id === active) ?? rows[0]
  const toggle = ({ scopes, checked }: Row) => {
    const others = selected.filter(scope => !scopes.includes(scope))
    onChange(checked === true ? others : [...others, ...scopes])
  }
  const expand = ({ group }: Row, expanded: boolean) =>
    setCollapsed(expanded ? collapsed.filter(name => name !== group.name) : [...collapsed, group.name])
  const move = (tree: HTMLElement, row: Row | undefined) => {
    if (!row) return
    setActive(row.id)
    tree.querySelector<HTMLElement>(`[data-row="${row.id}"]`)?.focus()
  }
  const press = (event: KeyboardEvent<HTMLElement>) => {
    if (!current || event.ctrlKey || event.metaKey || event.altKey) return
    const key = keyOf(event.key, rows, current)
    if (!key) return
    event.preventDefault()
    if (key === 'toggle') toggle(current)
    else if (key === 'expand') expand(current, true)
    else if (key === 'collapse') expand(current, false)
    else move(event.currentTarget, key)
  }
  if (rows.length === 0) return <Text size="sm">No scope matches the search.</Text>
  return (
    <Paper withBorder className={classes.frame}>
      <div
        ref={ref}
        role="tree"
        aria-label="Scopes"
        aria-multiselectable
        aria-invalid={invalid}
        onKeyDown={press}
      >
        {rows.map(row => (
          <TreeRow
            key={row.id}
            row={row}
            words={words}
            focusable={row.id === current?.id}
            onFocus={() => setActive(row.id)}
            onToggle={() => toggle(row)}
            onExpand={() => expand(row, !row.expanded)}
          />
        ))}
      </div>
    </Paper>
  )
}

interface TreeRowProps {
  row: Row
  words: string[]
  focusable: boolean
  onFocus: () => void
  onToggle: () => void
  onExpand: () => void
}

function TreeRow({ row, words, focusable, onFocus, onToggle, onExpand }: TreeRowProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys of all its items
    <div
      role="treeitem"
      data-row={row.id}
      className={classes.row}
      data-level={row.level}
      tabIndex={focusable ? 0 : -1}
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={row.size}
      aria-checked={row.checked}
      aria-expanded={row.expanded}
      onFocus={onFocus}
      onClick={onToggle}
    >
      <Box
        aria-hidden
        className={classes.expander}
        onClick={event => {
          if (row.level === 2) return
          event.stopPropagation()
          onExpand()
        }}
      >
        {row.level === 1 && (row.expanded ? '▾' : '▸')}
      </Box>
      <Checkbox.Indicator
        checked={row.checked === true}
        indeterminate={row.checked === 'mixed'}
        size="sm"
        aria-hidden
      />
      <div className={classes.texts}>
        <Highlight highlight={words} size="sm" fw={row.level === 1 ? 600 : 500} component="span">
          {row.label}
        </Highlight>
        <Highlight
          highlight={words}
          size={row.level === 1 ? 'sm' : 'xs'}
          component="span"
          {...(row.level === 2 && { ff: 'monospace', c: 'dimmed' })}
        >
          {row.text}
        </Highlight>
      </div>
    </div>
  )
}

function rowsOf(
  groups: readonly ScopeGroup[],
  selected: readonly Scope[],
  collapsed: readonly string[],
): Row[] {
  return groups.flatMap((group, index) => {
    const scopes = group.scopes.map(({ scope }) => scope)
    const count = scopes.filter(scope => selected.includes(scope)).length
    const expanded = !collapsed.includes(group.name)
    const head: Row = {
      id: `group-${index}`,
      group,
      level: 1,
      label: group.name,
      text: `${count} of ${scopes.length}${group.platform ? ', for other programs: no operation of Gantry needs them' : ''}`,
      scopes,
      checked: count === 0 ? false : count === scopes.length || 'mixed',
      expanded,
      position: index + 1,
      size: groups.length,
    }
    const items = group.scopes.map(
      ({ scope, text }, position): Row => ({
        id: scope,
        group,
        level: 2,
        label: text,
        text: scope,
        scopes: [scope],
        checked: selected.includes(scope),
        position: position + 1,
        size: group.scopes.length,
      }),
    )
    return expanded ? [head, ...items] : [head]
  })
}

/** What a key does at a row: an action, or the row to move to; undefined if the tree does not handle it. */
function keyOf(
  key: string,
  rows: readonly Row[],
  current: Row,
): 'toggle' | 'expand' | 'collapse' | Row | undefined {
  const index = rows.indexOf(current)
  const parent = rows.findLast(({ level }, at) => level === 1 && at <= index)
  switch (key) {
    case ' ':
    case 'Enter':
      return 'toggle'
    case 'ArrowDown':
      return rows[index + 1] ?? current
    case 'ArrowUp':
      return rows[index - 1] ?? current
    case 'Home':
      return rows[0]
    case 'End':
      return rows.at(-1)
    case 'ArrowRight':
      if (current.expanded === false) return 'expand'
      return current.expanded ? rows[index + 1] : current
    case 'ArrowLeft':
      return current.expanded ? 'collapse' : parent
    default:
      return undefined
  }
}
