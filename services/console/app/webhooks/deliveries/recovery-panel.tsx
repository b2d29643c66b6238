import { Empty } from '../../parts/states.tsx'

/** The recoveries of a webhook. */
export function RecoveryPanel({ webhookId }: { webhookId: string }) {
  return <Empty title="Recoveries">{webhookId}</Empty>
}
