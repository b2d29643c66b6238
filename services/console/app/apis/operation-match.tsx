import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { answer, client } from '../http/client.ts'
import { Marked } from '../parts/marked.tsx'
import { aboutOf, documentationOf, pathOf, rangesOf } from '../parts/operations.ts'
import styles from './operation-match.module.css'
import { PlainLink } from './plain-link.tsx'
import type { Api } from './search.ts'

/** Operations that are read for a search. Rows of APIs whose operations come later show no match. */
const SIZE = 100
const FRESH_MS = 60_000

interface OperationMatchProps {
  api: Api
  /** The search terms. */
  q: string
  /** What the row shows without an operation. */
  otherwise: ReactNode
}

/** The operation by which a search has found an API, if the fields of its record do not have all words. */
export function OperationMatch({ api, q, otherwise }: OperationMatchProps) {
  const navigate = useNavigate()
  const words = missingWords(api, q)
  // Rows with the same words share the request.
  const { data } = useQuery({
    queryKey: ['operations', 'with', words],
    queryFn: ({ signal }) => answer(client.listOperations({ q: words, size: SIZE }, { signal })),
    enabled: words !== '',
    staleTime: FRESH_MS,
  })
  const found = words === '' ? undefined : data?.content.find(operation => operation.api === api.id)
  if (!found) return otherwise
  const open = () =>
    navigate({ to: '/apis/$apiId', params: { apiId: api.id }, search: documentationOf(found) })
  const text = aboutOf(found)
  return (
    <PlainLink to={pathOf(found)} className={styles.match} onOpen={open}>
      <span className={styles.operation}>
        {found.method} <Marked text={found.path} ranges={rangesOf(found.path, words)} />
      </span>
      <span className={styles.summary}>
        <Marked text={text} ranges={rangesOf(text, words)} />
      </span>
    </PlainLink>
  )
}

/** The words that the service has not found in the fields of the record. */
function missingWords(
  { name, displayName, description, ownerDisplayName, tags, highlights = {} }: Api,
  q: string,
) {
  const fields: Readonly<Record<string, string | null>> = {
    ...{ name, displayName, description, ownerDisplayName },
    ...Object.fromEntries(tags.map((tag, index) => [`tags.${index}`, tag])),
  }
  const marked = Object.entries(highlights).flatMap(([field, ranges]) =>
    ranges.map(([start, end]) => fields[field]?.slice(start, end).toLowerCase() ?? ''),
  )
  const words = q.toLowerCase().match(/\S+/g) ?? []
  return words.filter(word => !marked.some(part => part.includes(word) || word.includes(part))).join(' ')
}
