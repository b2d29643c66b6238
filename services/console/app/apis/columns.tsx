import { lazy, type ReactNode, Suspense } from 'react'
import { Excerpt, Marked } from '../parts/marked.tsx'
import { statusText } from '../parts/statuses.tsx'
import { Time } from '../parts/time.tsx'
import styles from './list-table.module.css'
import { Logo } from './logo.tsx'
import { PlainLink } from './plain-link.tsx'
import type { Api } from './search.ts'

/** What the cells of a row need beside its record. */
export interface CellContext {
  /** The search terms. */
  q: string | undefined
  onOpen: (api: Api) => void
}

const OperationMatch = lazy(async () => ({
  default: (await import('./operation-match.tsx')).OperationMatch,
}))

function Match({ api, q, otherwise }: { api: Api; q: string | undefined; otherwise: ReactNode }) {
  if (!q) return otherwise
  return (
    <Suspense fallback={otherwise}>
      <OperationMatch api={api} q={q} otherwise={otherwise} />
    </Suspense>
  )
}

interface Column {
  header: string
  /** Class of the column's cells; it hides the column where there is no room. */
  className: string | undefined
  /** The property that the column's header sorts by. */
  sort?: string
  cell: (api: Api, context: CellContext) => ReactNode
}

/** The columns of the list. The service sorts and filters, so that TanStack Table would have nothing to do here. */
export const COLUMNS: readonly Column[] = [
  {
    header: 'Name',
    className: styles.name,
    sort: 'displayName',
    cell: (api, { q, onOpen }) => (
      <>
        <Logo api={api} />
        <PlainLink to={`/apis/${api.id}`} className={styles.title} onOpen={() => onOpen(api)}>
          <Marked text={api.displayName} ranges={api.highlights?.displayName} />
        </PlainLink>
        <span className={styles.second}>
          <Marked text={api.name} ranges={api.highlights?.name} />
        </span>
        <span className={styles.narrow}>
          <Match api={api} q={q} otherwise={null} />
        </span>
      </>
    ),
  },
  {
    header: 'Description',
    className: styles.description,
    cell: (api, { q }) => {
      const { description, highlights } = api
      const excerpt = (
        <span className={styles.lines}>
          {description && <Excerpt text={description} ranges={highlights?.description} />}
        </span>
      )
      return <Match api={api} q={q} otherwise={excerpt} />
    },
  },
  { header: 'Tags', className: styles.tags, cell: api => <Tags api={api} /> },
  {
    header: 'Status',
    className: styles.status,
    sort: 'status',
    cell: api => (
      <>
        <span className={styles.state} data-status={api.status}>
          {statusText(api.status)}
        </span>
        <span className={styles.second}>{statusText(api.deploymentStatus)}</span>
        {api.score !== undefined && <span className={styles.second}>Score {api.score} of 100</span>}
      </>
    ),
  },
  {
    header: 'Owner',
    className: styles.owner,
    cell: ({ ownerDisplayName, owner, highlights }) => (
      <span className={styles.line}>
        <Marked
          text={ownerDisplayName ?? (owner ? 'Deleted user' : '')}
          ranges={highlights?.ownerDisplayName}
        />
      </span>
    ),
  },
  {
    header: 'Platform',
    className: styles.platform,
    sort: 'platformType',
    cell: api => <span className={styles.line}>{api.platformType}</span>,
  },
  {
    header: 'Changed',
    className: styles.changed,
    sort: 'updatedAt',
    cell: api => <Time at={api.updatedAt} />,
  },
]

/** As many tags as have room in two lines; the others are counted. */
const SHOWN_TAGS = 2

function Tags({ api: { tags, highlights } }: { api: Api }) {
  const more = tags.length - SHOWN_TAGS
  return (
    <span className={styles.chips} title={tags.join(', ')}>
      {tags.slice(0, SHOWN_TAGS).map((tag, index) => (
        <span key={tag} className={styles.chip}>
          <Marked text={tag} ranges={highlights?.[`tags.${index}`]} />
        </span>
      ))}
      {more > 0 && <span className={styles.second}>+{more}</span>}
    </span>
  )
}
