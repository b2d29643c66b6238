import type { StoredRecord } from '@gantry/audit-proofs'
import type { AuditRecord, UserName } from '@gantry/contracts'
import type { NamesOf } from '@gantry/service-kit'
import { openedChange, type PersonalChange } from '../personal-data/sealed-change.ts'
import { type UserCiphers, UserKeyMissing } from '../personal-data/user-ciphers.ts'
import type { AuditDocument } from './audit.projection.ts'

type Names = ReadonlyMap<string, UserName>

/** Makes the records that callers see. @throws UserKeysUnavailable */
export type AuditRecords = (documents: readonly AuditDocument[]) => Promise<AuditRecord[]>

const NO_NAMES = { username: null, displayName: null, email: null }

/** The stored form of a record. */
export const storedRecord = ({ record }: AuditDocument) => JSON.parse(record) as StoredRecord

/** The users that a record names: the actor, and the changed user. */
const usersOf = ({ actor, resourceType, resourceId }: StoredRecord): (string | null)[] => [
  actor.id,
  resourceType === 'USER' ? resourceId : null,
]

/**
 * The personal fields of a changed user; undefined when there are none, or the user is erased.
 * @throws UserKeyMissing
 * @throws UserKeysUnavailable
 */
export type PersonalFieldsOf = (
  doc: Pick<AuditDocument, 'resourceId' | 'sealed'>,
) => Promise<PersonalChange | undefined>

export const personalFields =
  (ciphers: UserCiphers): PersonalFieldsOf =>
  async ({ resourceId, sealed }) =>
    sealed === null ? undefined : openedChange(resourceId, sealed, ciphers)

/**
 * Resolves names when records are read: documents have ids and encrypted personal fields. If a key is missing, the record
 * has the present names of the user instead of those of its time, so that the list can be read while keys are lost.
 */
export function auditRecords({
  namesOf,
  personalOf,
}: {
  namesOf: NamesOf
  personalOf: PersonalFieldsOf
}): AuditRecords {
  const recordOf = async (doc: AuditDocument, stored: StoredRecord, names: Names): Promise<AuditRecord> => {
    const { id, position, recordedAt, timestamp, actor, action, resourceType, resourceId, requestId } = stored
    const isNamed = resourceType === 'USER' && names.has(resourceId)
    const personal = isNamed ? await personalOf(doc).catch(unlessKeyMissing) : undefined
    return {
      id,
      timestamp,
      user: {
        id: actor.id,
        username: actor.id === null ? actor.name : (names.get(actor.id)?.username ?? null),
      },
      action,
      resourceType,
      resourceId,
      details: detailsOf(stored, names, personal),
      requestId,
      number: doc.number,
      position,
      recordedAt,
    }
  }

  return async documents => {
    const stored = documents.map(doc => ({ doc, record: storedRecord(doc) }))
    const names = await namesOf(stored.flatMap(({ record }) => usersOf(record)))
    return Promise.all(stored.map(({ doc, record }) => recordOf(doc, record, names)))
  }
}

function unlessKeyMissing(error: unknown): undefined {
  if (!(error instanceof UserKeyMissing)) throw error
}

/**
 * Records of users have the present names of the user unless they have their own. Those of an erased user have null, also
 * records of earlier releases, whose stored form has the names.
 */
function detailsOf(
  { resourceType, resourceId, details }: StoredRecord,
  names: Names,
  personal: PersonalChange | undefined,
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
