import { Refusal } from '@gantry/contracts'
import {
  type Aggregate,
  type CommandMetadata,
  type Decider,
  type Log,
  PersistentMap,
  pastQuarantine,
  type StreamState,
} from '@gantry/event-sourcing'
import { isGlobalAdministrator, type UserState } from './user.ts'

export type AdministratorsEvent = {
  type: 'RemovalAnnounced'
  data: { userId: string; userRevision: number; announcedAt: string }
}

interface Announcement {
  /** Revision of the user's stream after which the event that removes the administrator is to be appended. */
  userRevision: number
  announcedAt: string
}

export interface AdministratorsState {
  announced: PersistentMap<Announcement>
}

/** A global administrator, as read at a revision of the user's stream. */
interface Administrator {
  id: string
  revision: number
}

export type AdministratorsCommand = {
  type: 'AnnounceRemoval'
  metadata: CommandMetadata
  userId: string
  userRevision: number
  /** Other global administrators. They may be read before or after the state that the command is decided on. */
  others: readonly Administrator[]
}

/** Whether the next event of the user may be its announced removal. */
const isRemovalAnnounced = ({ announced }: AdministratorsState, { id, revision }: Administrator) =>
  (announced.get(id)?.userRevision ?? -1) >= revision

export const administratorsDecider: Decider<AdministratorsState, AdministratorsCommand, AdministratorsEvent> =
  {
    initial: { announced: PersistentMap.of() },
    events: { RemovalAnnounced: [] },
    decide(state, { userId, userRevision, others, metadata }) {
      if (isRemovalAnnounced(state, { id: userId, revision: userRevision })) return []
      if (others.every(other => isRemovalAnnounced(state, other))) throw new Refusal('last-administrator')
      return [{ type: 'RemovalAnnounced', data: { userId, userRevision, announcedAt: metadata.now } }]
    },
    evolve({ announced }, { data }) {
      const { userId, ...announcement } = data
      const known = announced.get(userId)
      if (known && known.userRevision >= announcement.userRevision) return { announced }
      return { announced: announced.set(userId, announcement) }
    },
  }

export interface Administrators {
  /**
   * Makes sure that another global administrator remains when the user's next event, at `userRevision` + 1, deletes,
   * demotes or deactivates this one.
   * @throws Refusal last-administrator
   */
  announceRemoval(userId: string, userRevision: number, metadata: CommandMetadata): Promise<void>
}

export interface AdministratorsOptions {
  removals: Aggregate<AdministratorsState, AdministratorsCommand, AdministratorsEvent>
  /** Ids of users who may be global administrators. */
  candidates(): Promise<string[]>
  load(userId: string): Promise<StreamState<UserState>>
  /** Appends an event to the user's stream, so that the append of a removal announced at an earlier revision fails. */
  fence(userId: string, metadata: CommandMetadata): Promise<StreamState<UserState>>
  newId(): string
  log: Log
}

/** Id of the one stream in which all removals are announced. */
const ALL = 'all'
/** Time after which an announced removal that has not happened counts as abandoned, in milliseconds. */
const ABANDONED_AFTER_MS = 2_000

/**
 * Keeps the last global administrator, without locks or transactions over streams. Every removal is announced first. All
 * announcements are in one stream, which serializes them. An announcement is refused unless there is another administrator
 * without an announced removal. The removal must then be appended at the announced revision, or be announced again. So when
 * two administrators remove each other, one of them is refused.
 */
export function administrators({
  removals,
  candidates,
  load,
  fence,
  newId,
  log,
}: AdministratorsOptions): Administrators {
  const otherAdministrators = async (userId: string): Promise<Administrator[]> => {
    const others: Administrator[] = []
    for (const id of await candidates()) {
      if (id === userId) continue
      // Not counted: an administrator whose stream is quarantined, because they cannot log in, and one whose role may
      // have been changed by an event that this release does not know.
      const other = await load(id).catch(pastQuarantine(log))
      if (other && !other.unknown && isGlobalAdministrator(other.state))
        others.push({ id, revision: other.revision })
    }
    return others
  }

  /** When no other administrator would remain, fences an abandoned removal, so that its administrator counts again. */
  const withoutAbandonedRemovals = async (
    others: Administrator[],
    metadata: CommandMetadata,
  ): Promise<Administrator[]> => {
    const { state } = await removals.load(ALL)
    if (others.some(other => !isRemovalAnnounced(state, other))) return others
    for (const { id } of others) {
      const announcedAt = state.announced.get(id)?.announcedAt ?? metadata.now
      if (Date.parse(metadata.now) - Date.parse(announcedAt) < ABANDONED_AFTER_MS) continue
      const fenced = await fence(id, metadata)
      if (isGlobalAdministrator(fenced.state)) return [{ id, revision: fenced.revision }]
    }
    return others
  }

  return {
    async announceRemoval(userId, userRevision, metadata) {
      const others = await withoutAbandonedRemovals(await otherAdministrators(userId), metadata)
      // A new command id, because the same command may have to announce its removal again at another revision.
      const announcing = { ...metadata, commandId: newId(), repeated: false }
      await removals.execute(ALL, {
        type: 'AnnounceRemoval',
        metadata: announcing,
        userId,
        userRevision,
        others,
      })
    },
  }
}
