import type { AuditRecord, UserName } from '@gantry/contracts'
import type { PersonalFields, StoredRecord } from './lines.ts'
import type { AuditDocument } from './log.projection.ts'
import { type AddressOf, type NamesOf, type PersonalFieldsOf, UserKeyMissing } from './ports.ts'

type Names = ReadonlyMap<string, UserName>

/** Makes the records that callers see. @throws UserKeysUnavailable */
export type AuditRecords = (documents: readonly AuditDocument[]) => Promise<AuditRecord[]>

const NO_NAMES = { username: null, displayName: null, email: null }

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/

/** The users that a record names: the actor, unless it is a part of the service, and the changed user. */
export const usersOf = ({ who, resourceType, resourceId }: AuditDocument): string[] =>
  [who, resourceType === 'USER' ? resourceId : ''].filter(id => UUID.test(id))

/**
 * Resolves names when records are read: documents have ids and encrypted personal fields. If a key is missing, the record
 * has the present names of the user instead of those of its time, so that the list can be read while keys are lost.
 */
export function auditRecords({
  namesOf,
  personalOf,
  addressOf,
}: {
  namesOf: NamesOf
  personalOf: PersonalFieldsOf
  addressOf: AddressOf
}): AuditRecords {
  const recordOf = async (doc: AuditDocument, names: Names): Promise<AuditRecord> => {
    const stored = JSON.parse(doc.record) as StoredRecord
    const { id, position, recordedAt, timestamp, actor, action, resourceType, resourceId, requestId } = stored
    const isNamed = resourceType === 'USER' && names.has(resourceId)
    const personal = isNamed ? await personalOf(doc).catch(unlessKeyMissing) : undefined
    // That of a login is sealed with the key of the user who logs in.
    const address = actor.address && addressOf(actor.id ?? resourceId, actor.address)
    return {
      id,
      timestamp,
      address: (address && (await address.catch(unlessKeyMissing))) ?? null,
      user: {
        id: actor.id,
        username: actor.id === null ? actor.name : (names.get(actor.id)?.username ?? null),
      },
      action,
      resourceType,
      resourceId,
      details: detailsOf(stored, names, personal),
      environment: stored.environment ?? null,
      requestId,
      number: doc.number,
      position,
      recordedAt,
    }
  }

  return async documents => {
    const names = await namesOf(documents.flatMap(usersOf))
    return Promise.all(documents.map(doc => recordOf(doc, names)))
  }
}

function unlessKeyMissing(error: unknown): undefined {
  if (!(error instanceof UserKeyMissing)) throw error
}

/** Records of users have the present names of the user unless they have their own. Those of an erased user have null. */
function detailsOf(
  { resourceType, resourceId, details }: StoredRecord,
  names: Names,
  personal: PersonalFields | undefined,
): AuditRecord['details'] {
  const name = names.get(resourceId)
  const shown = (state: 'before' | 'after'): Record<string, unknown> | null => {
    const resource = details[state] && { ...details[state] }
    if (resourceType !== 'USER') return resource
    if (!resource || !name) return resource && { ...resource, ...NO_NAMES }
    return { username: name.username, displayName: name.displayName, ...resource, ...personal?.[state] }
  }
  return { before: shown('before'), after: shown('after') }
}
