import { randomUUID } from 'node:crypto'
import { userInfo } from 'node:os'
import { subjects } from '@gantry/contracts'
import { z } from 'zod'
import { parsed } from '../command.ts'
import { ask, operatorBus } from '../operator-bus.ts'

export const USAGE = 'usage: npm run rotate-keys [-- [--audit] [--compromised]]'
const unknownOutcome = (audit: boolean) =>
  `no answer in time: GET /.well-known/${audit ? 'audit-keys' : 'jwks'}.json shows whether there is a new key`
const TIMEOUT_MS = 5_000

const Rotated = z.object({
  kid: z.string(),
  signsFrom: z.string(),
  ring: z.enum(['login', 'audit']),
})

/** Requests a new signing key from the running identity service, because only that process can write its log. */
export async function run(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const { compromised, audit } = optionsIn(args)
  const bus = operatorBus(environment, 'identity')
  try {
    const asked = { compromised, ring: audit ? 'audit' : 'login' }
    const body = { id: randomUUID(), by: `operator ${userInfo().username}`, ...asked }
    const request = { subject: subjects.rotateKeys, body, service: 'identity', timeoutMs: TIMEOUT_MS }
    const { kid, signsFrom, ring } = Rotated.parse(
      await ask(bus, { ...request, unanswered: unknownOutcome(audit) }),
    )
    if (ring === 'audit') {
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
  const flag = { type: 'boolean', default: false } as const
  return parsed(USAGE, { args, options: { compromised: flag, audit: flag } }).values
}
