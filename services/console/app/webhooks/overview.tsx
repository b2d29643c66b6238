import { HealthFigures } from './health.tsx'
import type { Webhook } from './webhook-queries.ts'

/** What a webhook does, and how well. */
export function Overview({ webhook }: { webhook: Webhook }) {
  return <HealthFigures webhook={webhook} />
}
