import { readFileSync } from 'node:fs'

/** A row of the APIs.guru directory (CC0). */
interface Row {
  provider: string
  service: string | null
  title: string | null
  version: string
  description: string | null
  categories: string[]
  url: string | null
  spec: string | null
}

/** An API with its version, as the demo creates it from a row. */
export interface PublicApi {
  name: string
  displayName: string
  description: string | null
  url: string | null
  status: 'ACTIVE'
  tags: string[]
  version: string
}

const cut = (text: string, characters: number) => {
  const all = [...text]
  return all.length <= characters ? text : `${all.slice(0, characters - 1).join('')}…`
}

/** Text that the REST API accepts as a name: without control characters, and of limited length. */
const label = (text: string, characters: number) => cut(text.replace(/\p{Cc}+/gu, ' ').trim(), characters)

export function readPublicApis(): PublicApi[] {
  const lines = readFileSync(new URL('../data/public-apis.ndjson', import.meta.url), 'utf8').split('\n')
  return lines.filter(Boolean).map(line => {
    const row: Row = JSON.parse(line)
    const name = label(row.service ? `${row.provider}:${row.service}` : row.provider, 255)
    return {
      name,
      displayName: label(row.title ?? '', 255) || name,
      description: row.description ? cut(row.description, 1000) : null,
      url: row.url ? cut(row.url, 2048) : null,
      status: 'ACTIVE',
      tags: [...new Set(row.categories.map(category => label(category, 100)))],
      version: label(row.version, 100) || '1',
    }
  })
}
