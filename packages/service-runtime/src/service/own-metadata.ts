import type { CommandMetadata } from '@gantry/event-sourcing'
import type { Dependencies } from './service.ts'

/** Metadata of a command that a service issues by itself. @param name the acting part of the service */
export function ownMetadata(
  { now, newId }: Pick<Dependencies, 'now' | 'newId'>,
  name: string,
): CommandMetadata {
  const commandId = newId()
  return { commandId, now: now().toISOString(), actor: { id: null, name }, requestId: commandId }
}
