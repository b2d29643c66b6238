import type { Schemas } from '../http/schemas.ts'
import { StateBadge } from './state-badge.tsx'

/** The kinds of documents in words. */
export const KINDS: Readonly<Record<Schemas['Document']['kind'], string>> = {
  openapi: 'OpenAPI',
  asyncapi: 'AsyncAPI',
  graphql: 'GraphQL',
  protobuf: 'Protobuf',
  wsdl: 'WSDL',
  postman: 'Postman',
  'json-schema': 'JSON Schema',
  markdown: 'Markdown',
  other: 'Other',
}

/** Below this score, many or serious rules are broken. */
const GOOD_SCORE = 80
const POOR_SCORE = 50

/** The score of a document by rule sets. */
export function ScoreBadge({ score }: { score: number }) {
  const color = score >= GOOD_SCORE ? 'teal' : score >= POOR_SCORE ? 'orange' : 'red'
  return <StateBadge color={color}>Score {score} of 100</StateBadge>
}
