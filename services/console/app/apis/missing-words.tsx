import { Text } from '@mantine/core'
import { useMissingWords } from '../parts/missing-words.ts'
import type { Api, ApiList } from './search.ts'

const quoted = (words: readonly string[]) =>
  new Intl.ListFormat('en', { type: 'disjunction' }).format(words.map(word => `“${word}”`))

/** Says which words of a search no API has: the list shows the APIs with the others. */
export function MissingWords({ list, shown }: { list: ApiList; shown: readonly Api[] }) {
  const { q, sort: _, scoreBelow: _below, ...filters } = list
  const { missing, others } = useMissingWords(q ?? '', shown, filters)
  const narrowed = Object.keys(filters).length > 0
  return (
    <Text size="sm" role="status">
      {missing.length > 0 &&
        `No API ${narrowed ? 'with these filters ' : ''}has ${quoted(missing)}. The list has those with ${quoted(others)}.`}
    </Text>
  )
}
