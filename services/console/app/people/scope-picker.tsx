import { Button, Group, Input, Stack, Text, TextInput } from '@mantine/core'
import { useRef, useState } from 'react'
import type { Scope } from '../http/schemas.ts'
import { ScopeTree } from './scope-tree.tsx'
import { matchingScopes, scopeGroups } from './scopes.ts'

interface ScopePickerProps {
  /** The scopes that may be given. */
  allowed: readonly Scope[]
  selected: readonly Scope[]
  error: string | undefined
  onChange: (selected: Scope[]) => void
}

/** Chooses scopes from a tree that can be searched. */
export function ScopePicker({ allowed, selected, error, onChange }: ScopePickerProps) {
  const [search, setSearch] = useState('')
  const tree = useRef<HTMLDivElement>(null)
  const groups = matchingScopes(scopeGroups(allowed), search)
  const shown = groups.flatMap(({ scopes }) => scopes.map(({ scope }) => scope))
  const reading = shown.filter(scope => scope.endsWith('_READ') || scope.startsWith('READ_'))
  const add = (scopes: readonly Scope[]) => onChange([...new Set([...selected, ...scopes])])
  return (
    <Input.Wrapper
      label="Scopes"
      labelElement="div"
      description="What the token may do, at least one. You can give only what you may do yourself."
      error={error}
      required
    >
      <Stack gap="xs" mt="xs">
        <TextInput
          type="search"
          aria-label="Search scopes"
          placeholder="Search, e.g. webhooks or read"
          value={search}
          onChange={event => setSearch(event.currentTarget.value)}
          onKeyDown={event => {
            if (event.key === 'Enter') event.preventDefault()
            if (event.key !== 'ArrowDown') return
            event.preventDefault()
            tree.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus()
          }}
        />
        <Group gap="xs">
          <Button size="compact-sm" variant="default" onClick={() => add(shown)}>
            Select all shown
          </Button>
          <Button size="compact-sm" variant="default" onClick={() => add(reading)}>
            Select reading only
          </Button>
          <Button size="compact-sm" variant="default" onClick={() => onChange([])}>
            Select none
          </Button>
          <Text size="sm" role="status">
            {selected.length} selected, {shown.length} of {allowed.length} shown
          </Text>
        </Group>
        <ScopeTree
          ref={tree}
          groups={groups}
          search={search}
          invalid={error !== undefined}
          selected={selected}
          onChange={onChange}
        />
      </Stack>
    </Input.Wrapper>
  )
}
