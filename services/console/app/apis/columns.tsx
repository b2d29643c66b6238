import { createColumnHelper, type ReactTable, tableFeatures } from '@tanstack/react-table'
import type { MouseEvent, ReactNode } from 'react'
import { CONSOLE_PATH } from '../http/place.ts'
import { Time } from '../parts/time.tsx'
import styles from './list-table.module.css'
import { excerpt, Marked } from './marked.tsx'
import type { Api } from './search.ts'

interface ColumnMeta {
  /** Class of the column's cells; it hides the column where there is no room. */
  className: string | undefined
  /** The property that the column's header sorts by. */
  sort?: string
}

interface TableMeta {
  terms: readonly string[]
  onOpen: (api: Api) => void
}

/** The features of the table that are used: the service sorts and filters. */
export const features = tableFeatures({
  columnMeta: {} as ColumnMeta,
  tableMeta: {} as TableMeta,
})

/** The table of the loaded rows. */
export type ListTableModel = ReactTable<typeof features, Api>

const column = createColumnHelper<typeof features, Api>()

const DEPLOYMENTS: Readonly<Record<Api['deploymentStatus'], string>> = {
  CREATED: 'Not deployed',
  DEPLOYMENT_IN_PROGRESS: 'Deploying',
  DEPLOYED: 'Deployed',
  DEPLOYMENT_FAILED: 'Deployment failed',
  UNDEPLOYED: 'Undeployed',
}

export const columns = column.columns([
  column.accessor('displayName', {
    header: 'Name',
    meta: { className: styles.name, sort: 'displayName' },
    cell: ({ row: { original: api }, table }) => {
      const terms = table.options.meta?.terms ?? []
      return (
        <>
          <OpenLink api={api} onOpen={table.options.meta?.onOpen}>
            <Marked text={api.displayName} terms={terms} />
          </OpenLink>
          <span className={styles.second}>
            <Marked text={api.name} terms={terms} />
          </span>
        </>
      )
    },
  }),
  column.accessor('description', {
    header: 'Description',
    meta: { className: styles.description },
    cell: ({ row: { original: api }, table }) => {
      const terms = table.options.meta?.terms ?? []
      return (
        <span className={styles.lines}>
          {api.description && <Marked text={excerpt(api.description, terms)} terms={terms} />}
        </span>
      )
    },
  }),
  column.accessor('tags', {
    header: 'Tags',
    meta: { className: styles.tags },
    cell: ({ row: { original: api } }) => <Tags tags={api.tags} />,
  }),
  column.accessor('status', {
    header: 'Status',
    meta: { className: styles.status, sort: 'status' },
    cell: ({ row: { original: api } }) => (
      <>
        <span className={styles.state} data-status={api.status}>
          {api.status === 'ACTIVE' ? 'Active' : 'Inactive'}
        </span>
        <span className={styles.second}>{DEPLOYMENTS[api.deploymentStatus]}</span>
      </>
    ),
  }),
  column.accessor('ownerDisplayName', {
    header: 'Owner',
    meta: { className: styles.owner },
    cell: ({ row: { original: api } }) => (
      <span className={styles.line}>{api.ownerDisplayName ?? (api.owner ? 'Deleted user' : '')}</span>
    ),
  }),
  column.accessor('platformType', {
    header: 'Platform',
    meta: { className: styles.platform, sort: 'platformType' },
    cell: ({ row: { original: api } }) => <span className={styles.line}>{api.platformType}</span>,
  }),
  column.accessor('updatedAt', {
    header: 'Changed',
    meta: { className: styles.changed, sort: 'updatedAt' },
    cell: ({ row: { original: api } }) => <Time at={api.updatedAt} />,
  }),
])

interface OpenLinkProps {
  api: Api
  onOpen: TableMeta['onOpen'] | undefined
  children: ReactNode
}

/** A link of its own: those of the router do more than rows that fly by have time for. Enter opens the active row. */
function OpenLink({ api, onOpen, children }: OpenLinkProps) {
  const open = (event: MouseEvent) => {
    // The browser opens new tabs and windows.
    if (!onOpen || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)
      return
    event.preventDefault()
    onOpen(api)
  }
  return (
    <a className={styles.title} href={`${CONSOLE_PATH}apis/${api.id}`} tabIndex={-1} onClick={open}>
      {children}
    </a>
  )
}

/** As many tags as have room; the others are counted. */
const SHOWN_TAGS = 3

function Tags({ tags }: { tags: readonly string[] }) {
  const more = tags.length - SHOWN_TAGS
  return (
    <span className={styles.chips} title={tags.join(', ')}>
      {tags.slice(0, SHOWN_TAGS).map(tag => (
        <span key={tag} className={styles.chip}>
          {tag}
        </span>
      ))}
      {more > 0 && <span className={styles.second}>+{more}</span>}
    </span>
  )
}
