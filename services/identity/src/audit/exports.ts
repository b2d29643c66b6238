import type { PersonalFieldsOf } from '@gantry/audit'
import { aggregate, nameUuids, type Worker } from '@gantry/event-sourcing'
import type { S3Settings } from '@gantry/s3'
import { type AddRoute, type Instrumented, type NamesOf, ownMetadata } from '@gantry/service-runtime'
import type { UserCiphers } from '../personal-data/user-ciphers.ts'
import type { IdentitySettings } from '../settings.ts'
import type { Accesses } from './access/accesses.ts'
import type { Auditor } from './auditor.ts'
import { exportRoutes } from './export/export.routes.ts'
import { exportSlots } from './export/slots.ts'
import { auditSource } from './export/source.ts'
import { auditConditions } from './log/filter.ts'
import { auditPushDecider } from './push/auditpush.ts'
import { type Destination, destinationOf } from './push/destination.ts'
import { pushMetrics } from './push/metrics.ts'
import { startAuditPush } from './push/push.ts'
import { pushSource } from './push/source.ts'

type PushSettings = Pick<
  IdentitySettings,
  'AUDIT_PUSH_URL' | 'AUDIT_PUSH_EVERY' | 'AUDIT_PUSH_TOKEN' | keyof S3Settings
>

export interface AuditExportsOptions {
  namesOf: NamesOf
  personalOf: PersonalFieldsOf
  pseudonyms: UserCiphers['pseudonyms']
  accesses: Accesses
  audit: Pick<Auditor, 'keys' | 'check' | 'upToDate'>
}

export interface AuditExports {
  routes(route: AddRoute): void
  workers: (() => Worker)[]
}

/** Exports of the audit log: on request, and pushed to AUDIT_PUSH_URL. */
export function auditExports(
  dependencies: Instrumented,
  settings: PushSettings,
  { namesOf, personalOf, pseudonyms, accesses, audit }: AuditExportsOptions,
): AuditExports {
  const { eventStore, readModels, unknownEvent, now, process } = dependencies
  const source = auditSource({
    readModels,
    namesOf,
    personalOf,
    conditions: auditConditions(readModels),
    keys: async () => (await audit.keys.published()).keys,
    signer: audit.keys.signer,
    check: audit.check,
  })
  const slots = exportSlots(process.metrics)
  const { AUDIT_PUSH_URL: url, AUDIT_PUSH_EVERY: everyMs, AUDIT_PUSH_TOKEN: token } = settings
  const destination = url && destinationOf({ url, token, s3: settings })
  const metrics = pushMetrics(process.metrics, url ? everyMs : 0)

  const startPush = (destination: Destination) =>
    startAuditPush({
      id: destinationUuid(destination.shown),
      everyMs,
      pushes: aggregate({ eventStore, unknownEvent, category: 'auditpush', decider: auditPushDecider }),
      source: pushSource({ source, upToDate: audit.upToDate, pseudonyms }),
      destination,
      metrics,
      process: {
        ...process,
        leases: readModels.leases,
        now,
        metadata: actor => ownMetadata(dependencies, actor),
      },
    })

  return {
    routes(route) {
      exportRoutes(route, { source, accesses, upToDate: audit.upToDate, slots, now, log: process.log })
    },
    workers: destination ? [() => startPush(destination)] : [],
  }
}

/** Name of the stream of a destination. */
const destinationUuid = nameUuids('5e2c8f0b-61d4-4a17-9f83-2b7a4c90d6e1')
