import {
  ActiveStatus,
  type PublicEvent,
  type RecordedWebhook,
  Refusal,
  Role,
  requests,
} from '@gantry/contracts'
import type { Log } from '@gantry/event-sourcing'
import type { Peers } from '@gantry/service-runtime'
import { pagesOf } from '@gantry/stores'
import { z } from 'zod'
import type { KnownUsers } from '../user/known-users.ts'
import { type Standing, unreadTypes } from '../user/standing.ts'
import type { Webhooks } from './webhooks.ts'

export interface OwnersOptions {
  users: KnownUsers
  webhooks: Webhooks
  peers: Pick<Peers, 'ask'>
  log: Log
}

/** Keeps role and status of users, and disables webhooks whose owners may not read their event types. */
export interface Owners {
  /** Records role and status from a public event of identity, then checks the webhooks of the user. */
  userChanged(event: PublicEvent): Promise<void>
  /** Requests role and status of a user from identity and records them. @throws Unanswered */
  request(user: string): Promise<Standing>
  /**
   * Role and status of a user for a decision on event types. Uses the recorded ones if they allow all types, else asks
   * identity. Without an answer: the recorded ones, or undefined if there are none.
   */
  standing(user: string, eventTypes: readonly string[]): Promise<Standing | undefined>
  /**
   * Disables the webhook if its owner is known and lacks the scope of one of its event types. Before that, identity
   * confirms role and status, because the recorded ones may be old: messages can be late, or be published again from the
   * beginning. A deleted user needs no confirmation.
   * @throws Unanswered
   */
  check(webhook: RecordedWebhook): Promise<void>
  /**
   * Checks all active webhooks.
   * @param which the owners whose role and status are requested from identity first: all, or only unknown ones
   * @throws Unanswered
   */
  checkAll(which: 'all' | 'unknown', signal: AbortSignal): Promise<void>
}

const PAGE = 100
const PublishedUser = z.object({ role: Role, status: ActiveStatus })

export function owners(options: OwnersOptions): Owners {
  const { users, webhooks, peers, log } = options

  const recorded = async (user: string) => (await users.documents.get(user))?.doc.standing

  const request: Owners['request'] = async user => {
    const standing = await peers.ask(requests.userStanding, { user })
    await users.issue(user, { type: 'RecordUser', standing })
    return standing.user ? { user, ...standing.user } : { user, status: 'GONE' }
  }

  const check: Owners['check'] = async ({ id, active, owner, eventTypes }) => {
    if (!active || owner === null) return
    const known = await recorded(owner)
    if (!known || unreadTypes(known, eventTypes).length === 0) return
    const standing = known.status === 'GONE' ? known : await request(owner)
    await webhooks.issue(id, { type: 'CheckOwner', standing })
  }

  /** Pages of active webhooks, by id. */
  const active = (where: { owner?: string }) =>
    pagesOf(webhooks.documents, { where: { ...where, active: true }, by: 'id', size: PAGE })

  return {
    request,
    check,
    async userChanged({ id, type, subject: user, revision, data }) {
      const published = type === 'USER_DELETED' ? undefined : PublishedUser.safeParse(data)
      if (published && !published.success)
        throw new Refusal('invalid-request', { detail: z.prettifyError(published.error) })
      const standing = { user: published?.data ?? null, revision }
      await users.issue(user, { type: 'RecordUser', standing }, id)
      for await (const page of active({ owner: user }))
        for (const doc of page)
          await check(doc).catch(error =>
            log.warn({ webhook: doc.id, err: error }, 'cannot check the owner of a webhook, tries later'),
          )
    },
    async standing(user, eventTypes) {
      const known = await recorded(user)
      if (known && unreadTypes(known, eventTypes).length === 0) return known
      return request(user).catch(error => {
        log.warn({ user, err: error }, 'cannot request the owner of a webhook from identity')
        return known
      })
    },
    async checkAll(which, signal) {
      const requested = new Set<string>()
      for await (const page of active({})) {
        const owning = new Set(page.flatMap(({ owner }) => owner ?? []))
        const known = which === 'all' ? requested : await users.documents.existing([...owning])
        for (const user of owning) {
          if (!known.has(user)) await request(user)
          requested.add(user)
        }
        for (const doc of page) {
          if (signal.aborted) return
          await check(doc)
        }
      }
    },
  }
}
