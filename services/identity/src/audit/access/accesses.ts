import { createHmac, createSecretKey } from 'node:crypto'
import type { requests } from '@gantry/contracts'
import { aggregate, type CommandMetadata, nameUuids } from '@gantry/event-sourcing'
import { deriveKey, type Instrumented } from '@gantry/service-runtime'
import { Counter } from 'prom-client'
import type { z } from 'zod'
import { type AccessEvent, accessDecider } from './access.ts'

export interface Accesses {
  /** Records an access, unless its minute has too many already. @throws the errors of an append */
  record(event: AccessEvent, metadata: CommandMetadata): Promise<void>
  /** Records that an operation was refused. Repeating it changes nothing. @throws the errors of an append */
  recordRefusal(refused: z.output<typeof requests.operationRefused.asked>): Promise<void>
  /** An HMAC of a username that no user has: it may be a password. @returns 43 characters of base64url */
  pseudonym(username: string): string
}

const accessUuid = nameUuids('0d5a4f4e-7c0b-4c55-8f5e-3a1b8e6d2c97')
/** Length of an ISO 8601 time up to the minute. */
const MINUTE = 16

/** Records accesses in the log. Replicas count together, because all append to the stream of the minute. */
export function accessesOf({ eventStore, unknownEvent, encryptionKeys, process }: Instrumented): Accesses {
  const access = aggregate({ eventStore, unknownEvent, category: 'access', decider: accessDecider })
  const key = createSecretKey(deriveKey(encryptionKeys.first.bytes, 'names of refused logins'))
  const omitted = new Counter({
    name: 'gantry_audit_omitted_total',
    help: 'Refused logins and operations beyond the 100 each of a minute that the audit log records',
    labelNames: ['type'],
    registers: [process.metrics],
  })
  /** The stream of each type that is known to be full: further records of its minute are counted without reading it. */
  const full = new Map<string, string>()
  const append = async (event: AccessEvent, metadata: CommandMetadata) => {
    const { type } = event
    const id = accessUuid(`${type}/${metadata.now.slice(0, MINUTE)}`)
    if (full.get(type) !== id) {
      const { events } = await access.execute(id, { type: 'RecordAccess', metadata, event })
      if (events.length > 0) return
      full.set(type, id)
    }
    omitted.inc({ type })
  }
  /** One append at a time for each type: simultaneous ones to a stream would conflict. */
  const last = new Map<string, Promise<unknown>>()
  const record: Accesses['record'] = (event, metadata) => {
    const recorded = Promise.resolve(last.get(event.type)).then(() => append(event, metadata))
    last.set(
      event.type,
      recorded.catch(() => {}),
    )
    return recorded
  }
  return {
    record,
    recordRefusal({ id, time, user, tokenId, address, requestId, ...data }) {
      const actor = {
        id: user,
        name: user,
        ...(tokenId !== null && { tokenId }),
        ...(address && { address }),
      }
      const metadata = { commandId: id, now: time, actor, requestId, repeated: true }
      return record({ type: 'OperationRefused', data }, metadata)
    },
    pseudonym: username => createHmac('sha256', key).update(username).digest('base64url'),
  }
}
