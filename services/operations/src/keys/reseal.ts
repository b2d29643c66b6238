import { type Reseal, type Resealed, requests } from '@gantry/contracts'
import type { Peers } from '@gantry/service-runtime'
import { CommandFailed, type Interruption, interruption, notice, parsed } from '../command.ts'
import { ask, operatorPeers } from '../operator-peers.ts'

export const USAGE = `usage: npm run reseal

Seals the secrets of the running service again, with the first key of its ENCRYPTION_KEY, and says which keys may be
removed. It can be interrupted and repeated.`
const NOTICE_MS = 5_000
/** Maximum number of failures that are printed. */
const SHOWN = 20

const SERVICES = ['identity', 'notifier'] as const
type Key = Resealed['key']

/** The result of a pass over all secrets. */
interface Pass {
  key: Key
  examined: number
  resealed: number
  failed: string[]
}

/** Asks the running services, because only they can write their stores, in requests for a page of secrets each. */
export async function run(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  parsed(USAGE, { args, options: {} })
  const interrupted = interruption()
  const peers = await operatorPeers(environment)
  let key: Key | undefined
  // Repeated until a pass finds nothing: a request may have sealed a secret with another key meanwhile.
  for (;;) {
    const pass = await resealAll(peers, key, interrupted)
    if (!pass) {
      notice('interrupted: run the command again to continue')
      return interrupted.code(1)
    }
    key = pass.key
    requireAll(pass)
    if (pass.resealed > 0) continue
    const { fingerprint } = pass.key
    const { retired } = await ask(peers, requests.retireKeys, { fingerprint }, unanswered('identity'))
    process.stdout.write(`${summary(pass, retired)}\n`)
    return 0
  }
}

/**
 * @param key the key that all processes must seal with; undefined in the first pass, whose first reply determines the key
 * @returns undefined when it was interrupted
 * @throws CommandFailed when processes seal with different keys
 */
async function resealAll(
  peers: Pick<Peers, 'ask'>,
  key: Key | undefined,
  { signal }: Interruption,
): Promise<Pass | undefined> {
  let pass = key && passWith(key)
  let noticedAt = performance.now()
  for (const service of SERVICES) {
    let after: string | null = null
    do {
      if (signal.aborted) return undefined
      const asked: Reseal = { after, ...(pass && { fingerprint: pass.key.fingerprint }) }
      const page: Resealed = await ask(peers, requests.reseal(service), asked, unanswered(service))
      if (pass && pass.key.fingerprint !== page.key.fingerprint) throw differing(pass.key, page.key)
      pass = added(pass ?? passWith(page.key), page)
      after = page.next
      if (performance.now() - noticedAt < NOTICE_MS) continue
      noticedAt = performance.now()
      notice(`${service}: ${pass.examined} secrets examined, ${pass.resealed} sealed again`)
    } while (after !== null)
  }
  if (pass && pass.resealed > 0)
    notice(`${pass.resealed} of ${pass.examined} secrets were sealed again, with key ${pass.key.id}`)
  return pass
}

const unanswered = (service: string) => `${service} did not answer in time: run the command again to continue`

const passWith = (key: Key): Pass => ({ key, examined: 0, resealed: 0, failed: [] })

const added = ({ key, examined, resealed, failed }: Pass, page: Resealed): Pass => ({
  key,
  examined: examined + page.examined,
  resealed: resealed + page.resealed,
  failed: [...failed, ...page.failed],
})

const differing = (one: Key, other: Key) =>
  new CommandFailed(
    `ENCRYPTION_KEY differs between processes: the first key is ${one.id} in one and ${other.id} in another. Restart all with the same keys, then run the command again`,
  )

/** @throws CommandFailed when a secret could not be sealed again */
function requireAll({ failed }: Pass): void {
  if (failed.length === 0) return
  const more = failed.length > SHOWN ? ` and ${failed.length - SHOWN} more` : ''
  throw new CommandFailed(
    `no key may be removed from ENCRYPTION_KEY. No key opens, or the log cannot be read for: ${failed.slice(0, SHOWN).join(', ')}${more}`,
  )
}

const summary = ({ key, examined }: Pass, retired: readonly string[]) =>
  [
    `All ${examined} secrets are sealed with key ${key.id}`,
    retired.length === 0
      ? 'No other key is in use'
      : `No longer in use: key ${retired.join(', ')}. Remove it from ENCRYPTION_KEY after 24 hours, when no repeated request needs it; keep it with the backups made until now`,
  ].join('\n')
