import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { subjects } from '@gantry/contracts'
import { sqliteBus } from '@gantry/embedded'
import { busSettings, openBus } from '@gantry/hosting'
import {
  type Bus,
  BusUnavailable,
  type Json,
  NoResponder,
  RequestFailed,
  RequestTimeout,
} from '@gantry/messaging'
import { readSettings, SettingsRefused } from '@gantry/service-kit'
import { z } from 'zod'

const USAGE = 'usage: npm run rotate-keys [-- --compromised]'
const NOBODY = 'no identity service answers: start it first, nothing was changed'
const UNKNOWN = 'no answer in time: GET /.well-known/jwks.json shows whether there is a new key'
/** The first request may go to a process that has just died. */
const TRIES = 3
const TIMEOUT_MS = 5_000

const schema = busSettings.partial().extend({ DATA_DIR: z.string().default('./data') })
const Rotated = z.object({ kid: z.string(), signsFrom: z.string() })

class Refused extends Error {}

function compromisedAsked(): boolean {
  try {
    const { values } = parseArgs({ options: { compromised: { type: 'boolean', default: false } } })
    return values.compromised
  } catch {
    throw new Refused(USAGE)
  }
}

/** The bus of the running service: that of MESSAGING_URL, or that of the data folder. */
function findBus(): Bus {
  const { DATA_DIR, MESSAGING_URL, ...settings } = readSettings(schema, process.env)
  if (MESSAGING_URL) {
    const quiet = () => {}
    return openBus(
      { MESSAGING_URL, ...settings },
      { name: 'operator', log: { info: quiet, warn: quiet, error: quiet } },
    ).store
  }
  const path = join(resolve(DATA_DIR), 'messages.db')
  if (!existsSync(path)) throw new Refused(NOBODY)
  return sqliteBus({ path })
}

/** Repeats the request after a timeout. The request is idempotent by its id. */
async function insist(bus: Bus, request: Json): Promise<Json> {
  for (let tries = 1; ; tries++) {
    try {
      return await bus.request(subjects.rotateKeys, request, { timeoutMs: TIMEOUT_MS })
    } catch (error) {
      if (!(error instanceof RequestTimeout) || tries === TRIES) throw error
    }
  }
}

/** Requests a new signing key from the running service, because only that process can write its log. */
async function rotate(bus: Bus, compromised: boolean): Promise<void> {
  const request = { id: randomUUID(), by: `operator ${userInfo().username}`, compromised }
  const { kid, signsFrom } = Rotated.parse(await insist(bus, request))
  process.stdout.write(
    compromised
      ? `Logins are signed with key ${kid} from now on; every login that another key signed has ended\n`
      : `Key ${kid} is published, and signs logins from ${signsFrom} on; no login ends because of it\n`,
  )
}

function reasonOf(error: unknown): string | undefined {
  if (error instanceof NoResponder) return NOBODY
  if (error instanceof RequestTimeout) return UNKNOWN
  const expected = [Refused, SettingsRefused, BusUnavailable, RequestFailed]
  return expected.some(kind => error instanceof kind) ? (error as Error).message : undefined
}

// All files are created for this user alone.
process.umask(0o077)
try {
  const compromised = compromisedAsked()
  const bus = findBus()
  try {
    await rotate(bus, compromised)
  } finally {
    await bus.close()
  }
} catch (error) {
  const reason = reasonOf(error)
  if (reason === undefined) throw error
  process.stderr.write(`gantry rotate-keys: ${reason}\n`)
  process.exit(1)
}
