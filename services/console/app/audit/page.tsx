import '../more-styles.ts'
import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { useRows } from '../parts/rows.tsx'
import { Split } from '../parts/split.tsx'
import { Empty, Loading } from '../parts/states.tsx'
import { TimeZone } from '../parts/time.tsx'
import { EntryDetail } from './detail.tsx'
import { entryAt, useEntries } from './entries.ts'
import { ExportDialog } from './export-dialog.tsx'
import { Filters } from './filters.tsx'
import { EntryList } from './list.tsx'
import { type AuditSearch, filtersOf, isReversed, readAuditSearch } from './search.ts'
import { AuditTabs } from './tabs.tsx'

const route = getRouteApi('/inside/audit')

/** The changes of resources, with filters, differences and export. */
export function AuditPage() {
  // The router also passes on what the route has left out.
  const search = readAuditSearch({ ...route.useSearch() })
  const navigate = route.useNavigate()
  const [exporting, setExporting] = useState(false)
  const cache = useQueryClient()
  const change = (changed: AuditSearch) =>
    navigate({ search: before => ({ ...before, ...changed }), replace: true, resetScroll: false })
  const refresh = () => cache.invalidateQueries({ queryKey: ['audit'] })
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Title order={1} size="h2">
          Audit log
        </Title>
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={refresh}>
            Refresh
          </Button>
          <Button size="xs" disabled={isReversed(search)} onClick={() => setExporting(true)}>
            Export
          </Button>
        </Group>
      </Group>
      <AuditTabs />
      {/* Other filters close the entry, which they may exclude. */}
      <Filters
        search={search}
        onChange={changed => change({ ...changed, entry: undefined, at: undefined })}
      />
      {/* Other filters begin at the top of the list. */}
      {isReversed(search) ? (
        <Empty title="Until must be after From">
          <Button variant="default" onClick={() => change({ from: undefined, to: undefined })}>
            Clear both times
          </Button>
        </Empty>
      ) : (
        <Entries
          key={JSON.stringify([filtersOf(search), search.sort])}
          search={search}
          onChange={change}
          onRetry={refresh}
        />
      )}
      {exporting && <ExportDialog filters={filtersOf(search)} onClose={() => setExporting(false)} />}
    </Stack>
  )
}

interface EntriesProps {
  search: AuditSearch
  onChange(change: AuditSearch): void
  onRetry(): void
}

function Entries({ search, onChange, onRetry }: EntriesProps) {
  const [range, setRange] = useState({ first: 0, last: 0 })
  const entries = useEntries(search, range.first, range.last)
  const isBeside = search.entry !== undefined && search.at !== undefined
  const rows = useRows(entries.total, index => entries.entry(index)?.id ?? String(index), isBeside)
  const close = () => onChange({ entry: undefined, at: undefined })
  const items = rows.virtual.getVirtualItems()
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0]
  // Known only after the list was measured.
  if (first !== range.first || last !== range.last) setRange({ first, last })
  return (
    <>
      {entries.error && (
        <ProblemPanel what="The audit log cannot be read" error={entries.error} onRetry={onRetry} />
      )}
      {entries.isPending && !entries.error && <Loading what="the audit log" />}
      {!entries.isPending && entries.total === 0 && (
        <Empty title="No entry matches">
          <Stack gap="xs" align="center">
            {search.text
              ? 'The search finds names of resources at the time of the change and of their APIs, ids, actions and types. For users, use the field User.'
              : 'Change the filters.'}
            <Button variant="default" onClick={() => onChange(filtersOf({}))}>
              Clear search and filters
            </Button>
          </Stack>
        </Empty>
      )}
      {entries.total > 0 && (
        <>
          <Group justify="space-between">
            <Text size="sm" role="status">
              {entries.total.toLocaleString('en')} {entries.total === 1 ? 'entry' : 'entries'}
            </Text>
            <TimeZone />
          </Group>
          <Split
            selected={search.entry}
            onBack={close}
            list={
              <EntryList
                rows={rows}
                entry={entries.entry}
                selected={search.entry}
                onSelect={({ id, timestamp }) => onChange({ entry: id, at: timestamp })}
              />
            }
            detail={
              search.entry && search.at && <Selected id={search.entry} at={search.at} onClose={close} />
            }
          />
        </>
      )}
    </>
  )
}

interface SelectedProps {
  id: string
  at: string
  onClose(): void
}

function Selected({ id, at, onClose }: SelectedProps) {
  const found = useQuery(entryAt(id, at))
  if (found.isError)
    return (
      <ProblemPanel what="The entry cannot be read" error={found.error} onRetry={() => found.refetch()} />
    )
  if (found.isPending) return <Loading what="the entry" />
  if (!found.data) return <Empty title="There is no such entry" />
  return <EntryDetail entry={found.data} onClose={onClose} />
}
