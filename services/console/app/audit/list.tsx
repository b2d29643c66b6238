import { Skeleton } from '@mantine/core'
import { timeWithMilliseconds } from '../parts/local-time.ts'
import { RowList, type Rows } from '../parts/rows.tsx'
import classes from './audit.module.css'
import { type Entry, userName } from './entries.ts'
import { ResourceName } from './resource-name.tsx'

interface EntryListProps {
  rows: Rows
  entry(index: number): Entry | undefined
  selected: string | undefined
  onSelect(entry: Entry): void
}

const ABOVE = { open: 435, folded: 295 }
const HEADS = ['Time', 'Action', 'Type', 'Resource', 'By']

/** The entries. Those that are not read yet have a placeholder. */
export function EntryList({ rows, entry, selected, onSelect }: EntryListProps) {
  const inSight = rows.virtual.getVirtualItems().map(({ index }) => index)
  return (
    <RowList
      rows={rows}
      label="Entries"
      rowClass={classes.row}
      heads={HEADS}
      above={ABOVE}
      selected={inSight.find(index => entry(index)?.id === selected && selected !== undefined) ?? -1}
      onSelect={index => {
        const found = entry(index)
        if (found) onSelect(found)
      }}
    >
      {index => {
        const found = entry(index)
        return found ? <EntryCells entry={found} /> : <Skeleton height={12} />
      }}
    </RowList>
  )
}

function EntryCells({ entry }: { entry: Entry }) {
  const { timestamp, action, resourceType } = entry
  return (
    <>
      <span className={classes.time}>{timeWithMilliseconds(timestamp)}</span>
      <span className={classes.action}>{action}</span>
      <span className={classes.type}>{resourceType}</span>
      <span>
        <ResourceName entry={entry} />
      </span>
      <span>{userName(entry)}</span>
    </>
  )
}
