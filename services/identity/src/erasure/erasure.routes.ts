import { eraseUser } from '@gantry/contracts'
import type { AddRoute } from '@gantry/service-runtime'
import type { Erasures } from './erasures.ts'

export interface ErasureRoutes {
  erasures: Erasures
  /** How long backups of the store of user keys are kept, in milliseconds. */
  backupRetentionMs: number
}

export function erasureRoutes(route: AddRoute, { erasures, backupRetentionMs }: ErasureRoutes): void {
  route(eraseUser, async ({ params, metadata, principal, ifMatch }) => {
    const { user_id: id } = params
    const { erasedAt, revision } = await erasures.erase(id, { metadata, by: principal, ifMatch })
    const backupsErasedAt = new Date(Date.parse(erasedAt) + backupRetentionMs).toISOString()
    return { status: 200, body: { id, erasedAt, backupsErasedAt }, revision }
  })
}
