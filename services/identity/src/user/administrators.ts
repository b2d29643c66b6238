import {
  type Aggregate,
  type CommandMetadata,
  type Decider,
  type Log,
  PersistentMap,
  pastQuarantine,
  Refusal,
  type Snapshot,
} from '@gantry/event-sourcing'
import { isGlobalAdministrator, type UserState } from './user.ts'

export type AdministratorsEvent = {
  type: 'RemovalAnnounced'
  data: { userId: string; userRevision: number; announcedAt: string }
}

interface Announcement {
  /** The revision after which the user's stream is about to say that it is no global administrator any more. */
  userRevision: number
  announcedAt: string
}

export interface AdministratorsState {
  announced: PersistentMap<Announcement>
}

/** A global administrator as its stream has it at a revision. */
interface Administrator {
  id: string
  revision: number
}

export type AdministratorsCommand = {
  type: 'AnnounceRemoval'
  metadata: CommandMetadata
  userId: string
  userRevision: number
  /** Other global administrators, read before the state that is decided on or after it. */
  others: readonly Administrator[]
}

/** Whether the next event of that user may be the one that ends it as an administrator. */
const isLeaving = ({ announced }: AdministratorsState, { id, revision }: Administrator) =>
  (announced.get(id)?.userRevision ?? -1) >= revision

export const administratorsDecider: Decider<AdministratorsState, AdministratorsCommand, AdministratorsEvent> =
  {
    initial: { announced: PersistentMap.of() },
    events: { RemovalAnnounced: [] },
    decide(state, { userId, userRevision, others, metadata }) {
      if (isLeaving(state, { id: userId, revision: userRevision })) return []
      if (others.every(other => isLeaving(state, other))) throw new Refusal('last-administrator')
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
   * Secures that a global administrator remains when the user's next append, at `userRevision` + 1, ends this one.
   * @throws Refusal last-administrator
   */
  leave(userId: string, userRevision: number, metadata: CommandMetadata): Promise<void>
}

export interface AdministratorsOptions {
  removals: Aggregate<AdministratorsState, AdministratorsCommand, AdministratorsEvent>
  /** Ids of users who may be global administrators. */
  candidates(): Promise<string[]>
  load(userId: string): Promise<Snapshot<UserState>>
  /** Appends to the user's stream, so that a removal announced at an earlier revision cannot happen any more. */
  fence(userId: string, metadata: CommandMetadata): Promise<Snapshot<UserState>>
  newId(): string
  log: Log
}

/** All removals are announced in one stream: this is its id. */
const ALL = 'all'
/** An announced removal that has not happened after so long was given up by its writer. */
const GRACE_MS = 2_000

/**
 * Keeps the last global administrator, without locks or transactions over streams. Every removal is announced first,
 * in one stream and hence one after the other, and only when somebody stays of whom no removal is announced; it then
 * must append at the revision that it announced, or announce anew. So of two who remove each other one is refused.
 */
export function administrators({
  removals,
  candidates,
  load,
  fence,
  newId,
  log,
}: AdministratorsOptions): Administrators {
  const othersThan = async (userId: string): Promise<Administrator[]> => {
    const others: Administrator[] = []
    for (const id of await candidates()) {
      if (id === userId) continue
      // An administrator whose stream is quarantined cannot log in, so does not count as one who stays; nor does one
      // whose role an event that is unknown here may have changed.
      const other = await load(id).catch(pastQuarantine(log))
      if (other && !other.unknown && isGlobalAdministrator(other.state))
        others.push({ id, revision: other.revision })
    }
    return others
  }

  /** Where nobody would stay, takes back somebody whose removal was announced and given up. */
  const withReturned = async (
    others: Administrator[],
    metadata: CommandMetadata,
  ): Promise<Administrator[]> => {
    const { state } = await removals.load(ALL)
    if (others.some(other => !isLeaving(state, other))) return others
    for (const { id } of others) {
      const announcedAt = state.announced.get(id)?.announcedAt ?? metadata.now
      if (Date.parse(metadata.now) - Date.parse(announcedAt) < GRACE_MS) continue
      const fenced = await fence(id, metadata)
      if (isGlobalAdministrator(fenced.state)) return [{ id, revision: fenced.revision }]
    }
    return others
  }

  return {
    async leave(userId, userRevision, metadata) {
      const others = await withReturned(await othersThan(userId), metadata)
      // An id of its own: the removal that this secures may be announced again at another revision.
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
