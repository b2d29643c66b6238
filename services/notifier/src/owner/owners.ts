import { type PublicEvent, Role, UserStatus, type WebhookRecord } from '@gantry/contracts'
import { type Aggregate, type CommandMetadata, type Log, Refusal } from '@gantry/event-sourcing'
import type { Collection } from '@gantry/read-models'
import { z } from 'zod'
import type { WebhookCommand } from '../webhook/webhook.decide.ts'
import type { WebhookDocument } from '../webhook/webhook.projection.ts'
import type { WebhookEvent, WebhookState } from '../webhook/webhook.ts'
import type { AskIdentity } from './ask-identity.ts'
import type { KnownUserDocument } from './known-user.projection.ts'
import type { KnownUserCommand, KnownUserEvent, KnownUserState } from './known-user.ts'
import { type Standing, unreadTypes } from './standing.ts'

export interface OwnersOptions {
  knownUser: Aggregate<KnownUserState, KnownUserCommand, KnownUserEvent>
  users: Collection<KnownUserDocument>
  webhook: Aggregate<WebhookState, WebhookCommand, WebhookEvent>
  webhooks: Collection<WebhookDocument>
  askIdentity: AskIdentity
  /** Circumstances of a command of the service itself. */
  metadata(causationId?: string): CommandMetadata
  log: Log
}

/** Keeps what identity tells of users, and disables webhooks whose owners may not read their event types. */
export interface Owners {
  /** Takes note of a public event of identity, then checks the webhooks of the user. */
  heard(event: PublicEvent): Promise<void>
  /** What a user is now. @throws what askIdentity throws */
  ask(user: string): Promise<Standing>
  /**
   * What a user is, as far as it decides on event types: what was noted when that is enough for them, else what
   * identity answers. When identity does not answer: what was noted, undefined when nothing was.
   */
  standing(user: string, eventTypes: readonly string[]): Promise<Standing | undefined>
  /**
   * Makes the webhook inactive when its owner is known and lacks the scope of one of its event types. Identity confirms
   * a role or a status before, because what was noted may be old: messages can be late, or be told again from the
   * beginning. A deletion is final.
   * @throws what askIdentity throws
   */
  check(webhook: WebhookRecord): Promise<void>
  /**
   * Checks all active webhooks.
   * @param which owners identity is asked about first: all of them, or those of whom nothing is known
   * @throws what askIdentity throws
   */
  checkAll(which: 'all' | 'unknown', signal: AbortSignal): Promise<void>
}

const PAGE = 100
const OF_USERS = new Set(['USER_CREATED', 'USER_UPDATED', 'USER_DELETED'])
const PublishedUser = z.object({ role: Role, status: UserStatus })

/** Whether identity publishes events of that type about users. */
export const isAboutUser = (type: string): boolean => OF_USERS.has(type)

export function owners(options: OwnersOptions): Owners {
  const { knownUser, users, webhook, webhooks, askIdentity, metadata, log } = options

  const noted = async (user: string) => (await users.get(user))?.doc.standing

  const ask: Owners['ask'] = async user => {
    const standing = await askIdentity(user)
    await knownUser.execute(user, { type: 'NoteUser', metadata: metadata(), standing })
    return standing.user ? { user, ...standing.user } : { user, status: 'GONE' }
  }

  const check: Owners['check'] = async ({ id, active, owner, eventTypes }) => {
    if (!active || owner === null) return
    const known = await noted(owner)
    if (!known || unreadTypes(known, eventTypes).length === 0) return
    const standing = known.status === 'GONE' ? known : await ask(owner)
    await webhook.execute(id, { type: 'CheckOwner', metadata: metadata(), standing })
  }

  /** Pages of active webhooks, by id. */
  async function* active(where: { owner?: string }, signal?: AbortSignal) {
    for (let after = ''; !signal?.aborted; ) {
      const found = await webhooks.list({ where: { ...where, active: true, id: { gt: after } }, limit: PAGE })
      yield found.map(({ doc }) => doc)
      if (found.length < PAGE) return
      after = found.at(-1)?.doc.id ?? after
    }
  }

  return {
    ask,
    check,
    async heard({ id, type, subject: user, revision, data }) {
      const published = type === 'USER_DELETED' ? undefined : PublishedUser.safeParse(data)
      if (published && !published.success)
        throw new Refusal('invalid-request', { detail: z.prettifyError(published.error) })
      const standing = { user: published?.data ?? null, revision }
      await knownUser.execute(user, { type: 'NoteUser', metadata: metadata(id), standing })
      for await (const page of active({ owner: user }))
        for (const doc of page)
          await check(doc).catch(error =>
            log.warn(
              { webhook: doc.id, err: error },
              'the owner of a webhook could not be checked, tries later',
            ),
          )
    },
    async standing(user, eventTypes) {
      const known = await noted(user)
      if (known && unreadTypes(known, eventTypes).length === 0) return known
      return ask(user).catch(error => {
        log.warn({ user, err: error }, 'identity could not be asked about the owner of a webhook')
        return known
      })
    },
    async checkAll(which, signal) {
      const asked = new Set<string>()
      for await (const page of active({}, signal)) {
        const owning = new Set(page.flatMap(({ owner }) => owner ?? []))
        const known = which === 'all' ? asked : await users.existing([...owning])
        for (const user of owning) {
          if (!known.has(user)) await ask(user)
          asked.add(user)
        }
        for (const doc of page) {
          if (signal.aborted) return
          await check(doc)
        }
      }
    },
  }
}
