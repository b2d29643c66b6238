import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { subjects } from '@gantry/contracts'
import { sqliteBus } from '@gantry/embedded'
import { busSettings, openBus } from '@gantry/hosting'
import { type Bus, type Json, NoResponder, RequestTimeout } from '@gantry/messaging'
import { readSettings } from '@gantry/service-kit'
import { z } from 'zod'
import { CommandFailed, WrongUsage } from './command.ts'

export const USAGE = 'usage: npm run rotate-keys [-- [--audit] [--compromised]]'
const NOT_RUNNING = 'no identity service answers: start it first, nothing was changed'
const UNKNOWN_OUTCOME = 'no answer in time: GET /.well-known/jwks.json shows whether there is a new key'
/** The first request may go to a process that has just died. */
const TRIES = 3
const TIMEOUT_MS = 5_000

const schema = busSettings.partial().extend({ DATA_DIR: z.string().default('./data') })
const Rotated = z.object({
  kid: z.string(),
  signsFrom: z.string(),
  /** Earlier releases leave it out, and know only the keys of logins. */
  ring: z.enum(['login', 'audit']).default('login'),
})

/** Requests a new signing key from the running identity service, because only that process can write its log. */
export async function run(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const { compromised, audit } = optionsIn(args)
  const bus = findBus(environment)
  try {
    const ring = audit ? 'audit' : 'login'
    const request = { id: randomUUID(), by: `operator ${userInfo().username}`, compromised, ring }
    const rotated = Rotated.parse(await requestKey(bus, request))
    const { kid, signsFrom } = rotated
    if (rotated.ring !== ring)
      throw new CommandFailed(
        `a process of the previous release has rotated the keys of logins instead: ${kid}`,
      )
    if (audit) {
      process.stdout.write(`Audit proofs are signed with key ${kid} from ${signsFrom} on\n`)
      return 0
    }
    process.stdout.write(
      compromised
        ? `Logins are signed with key ${kid} from now on; every login that another key signed has ended\n`
        : `Key ${kid} is published, and signs logins from ${signsFrom} on; no login ends because of it\n`,
    )
    return 0
  } finally {
    await bus.close()
  }
}

function optionsIn(args: string[]) {
  try {
    const flag = { type: 'boolean', default: false } as const
    return parseArgs({ args, options: { compromised: flag, audit: flag } }).values
  } catch {
    throw new WrongUsage(USAGE)
  }
}

/** The bus of the running service: that of MESSAGING_URL, or that of the data folder. */
function findBus(environment: NodeJS.ProcessEnv): Bus {
  const { DATA_DIR, MESSAGING_URL, ...settings } = readSettings(schema, environment)
  if (MESSAGING_URL) {
    const quiet = () => {}
    return openBus(
      { MESSAGING_URL, ...settings },
      { name: 'operator', log: { info: quiet, warn: quiet, error: quiet } },
    ).store
  }
  const path = join(resolve(DATA_DIR), 'messages.db')
  if (!existsSync(path)) throw new CommandFailed(NOT_RUNNING)
  return sqliteBus({ path })
}

/** Repeats the request after a timeout. The request is idempotent by its id. */
async function requestKey(bus: Bus, request: Json): Promise<Json> {
  for (let tries = 1; ; tries++) {
    try {
      return await bus.request(subjects.rotateKeys, request, { timeoutMs: TIMEOUT_MS })
    } catch (error) {
      if (error instanceof NoResponder) throw new CommandFailed(NOT_RUNNING)
      if (!(error instanceof RequestTimeout)) throw error
      if (tries === TRIES) throw new CommandFailed(UNKNOWN_OUTCOME)
    }
  }
}
