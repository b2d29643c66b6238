import { useQueries } from '@tanstack/react-query'
import { answer, client } from '../http/client.ts'
import type { Query, Schemas } from '../http/schemas.ts'

const FRESH_MS = 60_000
/** Of longer searches only the first words are looked up. */
const MOST_WORDS = 6
/** A word that the search ignores beside others. Behind it, the word before is not taken for a beginning. */
const FILLER = 'the'

/**
 * The words of a search that no API has. The service leaves them out of the search and finds the APIs with the others.
 * A word that is highlighted in a shown API is not looked up.
 * @param shown APIs that were found
 * @param filters the filters besides the search
 */
export function useMissingWords(
  q: string,
  shown: readonly Schemas['Api'][],
  filters: Omit<Query<'getApiFacets'>, 'q'> = {},
): { missing: string[]; others: string[] } {
  const words = [...new Set(q.match(/\S*[\p{L}\p{N}]\S*/gu))].slice(0, MOST_WORDS)
  const texts = shown.flatMap(highlighted)
  const isShown = (word: string) => texts.some(text => text.includes(word.toLowerCase()))
  const asked = words.length > 1 && shown.length > 0 ? words.filter(word => !isShown(word)) : []
  const counts = useQueries({
    queries: asked.map(word => {
      const query = { ...filters, q: word === words.at(-1) ? word : `${word} ${FILLER}`, size: 1 }
      return {
        queryKey: ['apis', 'with word', query],
        queryFn: async ({ signal }: { signal: AbortSignal }) =>
          (await answer(client.listApis(query, { signal }))).totalElements,
        staleTime: FRESH_MS,
      }
    }),
  })
  const missing = asked.filter((_, index) => counts[index]?.data === 0)
  return { missing, others: words.filter(word => !missing.includes(word)) }
}

/** The highlighted parts of the names and the description of an API, in lower case. */
function highlighted({ highlights = {}, ...api }: Schemas['Api']): string[] {
  const texts: Readonly<Record<string, string | null | undefined>> = {
    name: api.name,
    displayName: api.displayName,
    description: api.description,
  }
  return Object.entries(highlights).flatMap(([field, ranges]) =>
    ranges.map(([start, end]) => (texts[field] ?? '').slice(start, end).toLowerCase()),
  )
}
