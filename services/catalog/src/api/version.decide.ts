import { isDeepStrictEqual } from 'node:util'
import { type AttachedDocument, Refusal, type VersionInput, type VersionRecord } from '@gantry/contracts'
import { type CommandMetadata, type Conditional, requireRevision } from '@gantry/event-sourcing'
import type { DocumentEvent, Version, VersionEvent, Versions } from './version.ts'

export type VersionCommand =
  | {
      type: 'CreateVersion'
      metadata: CommandMetadata
      api: string
      id: string
      input: VersionInput
      /** Maximum number of versions of the API; 0 for no limit. */
      limit: number
    }
  | ({ type: 'UpdateVersion'; version: string; input: VersionInput } & Conditional)
  | ({ type: 'DeleteVersion'; version: string } & Conditional)

/** An event of media about a document of a version. */
export type AttachmentCommand = { metadata: CommandMetadata; version: string; documentRevision: number } & (
  | { type: 'AttachDocument'; document: AttachedDocument }
  | { type: 'DetachDocument'; name: string }
)

/** An event that was handled, or that is about a deleted version, changes nothing. */
export function decideAttachment({ versions }: Versions, command: AttachmentCommand): DocumentEvent[] {
  const { version: id, documentRevision, metadata } = command
  const name = command.type === 'AttachDocument' ? command.document.name : command.name
  const version = versions.get(id)
  if (!version || documentRevision <= (version.attachments?.find(one => one.name === name)?.revision ?? -1))
    return []
  if (command.type === 'DetachDocument')
    return [{ type: 'DocumentDetached', data: { id, name, documentRevision, detachedAt: metadata.now } }]
  const data = { id, ...command.document, documentRevision, attachedAt: metadata.now }
  return [{ type: 'DocumentAttached', data }]
}

export function decideVersion(state: Versions, command: VersionCommand): VersionEvent[] {
  const { now } = command.metadata
  switch (command.type) {
    case 'CreateVersion': {
      const { input, id, api, limit } = command
      requireFreeName(state, input.name)
      if (limit > 0 && state.versions.size >= limit) {
        const detail = `an API may have ${limit} versions (MAX_VERSIONS_PER_API)`
        throw new Refusal('too-many-versions', { detail, limit })
      }
      const data = { id, api, ...versionFields(input), createdAt: now, updatedAt: now }
      return [{ type: 'VersionCreated', data }]
    }
    case 'UpdateVersion': {
      const { record, revision } = versionOf(state, command.version)
      requireRevision(command, revision)
      if (command.input.name !== record.name) requireFreeName(state, command.input.name)
      const next: VersionRecord = { ...record, ...versionFields(command.input) }
      if (isDeepStrictEqual(next, record)) return []
      return [{ type: 'VersionUpdated', data: { ...next, updatedAt: now } }]
    }
    case 'DeleteVersion': {
      const { record, revision } = versionOf(state, command.version)
      requireRevision(command, revision)
      return [{ type: 'VersionDeleted', data: { id: record.id, deletedAt: now } }]
    }
    default:
      return command satisfies never
  }
}

const versionFields = ({ name, displayName, description, status }: VersionInput) => ({
  name,
  displayName: displayName ?? name,
  description,
  status,
})

/** Finds a version by id or name; an id takes precedence. @throws Refusal when there is none */
function versionOf({ versions, versionIds }: Versions, idOrName: string): Version {
  const version = versions.get(idOrName.toLowerCase()) ?? versions.get(versionIds.get(idOrName) ?? '')
  if (!version) throw new Refusal('version-not-found')
  return version
}

function requireFreeName({ versionIds }: Versions, name: string): void {
  if (versionIds.has(name))
    throw new Refusal('version-name-taken', { detail: `another version is named ${name}`, name })
}
