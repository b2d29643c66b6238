import { randomUUID } from 'node:crypto'
import { userInfo } from 'node:os'
import { requests } from '@gantry/contracts'
import { parsed } from '../command.ts'
import { ask, operatorPeers } from '../operator-peers.ts'

export const USAGE = 'usage: npm run rotate-keys [-- [--audit] [--compromised]]'
const unknownOutcome = (audit: boolean) =>
  `no answer in time: GET /.well-known/${audit ? 'audit-keys' : 'jwks'}.json shows whether there is a new key`

/** Requests a new signing key from the running identity service, because only that process can write its log. */
export async function run(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const { compromised, audit } = optionsIn(args)
  const { kid, signsFrom, ring } = await ask(
    await operatorPeers(environment),
    requests.rotateKeys,
    { id: randomUUID(), by: `operator ${userInfo().username}`, compromised, ring: audit ? 'audit' : 'login' },
    unknownOutcome(audit),
  )
  if (ring === 'audit') process.stdout.write(`Audit proofs are signed with key ${kid} from ${signsFrom} on\n`)
  else
    process.stdout.write(
      compromised
        ? `Logins are signed with key ${kid} from now on; every login that another key signed has ended\n`
        : `Key ${kid} is published, and signs logins from ${signsFrom} on; no login ends because of it\n`,
    )
  return 0
}

function optionsIn(args: string[]) {
  const flag = { type: 'boolean', default: false } as const
  return parsed(USAGE, { args, options: { compromised: flag, audit: flag } }).values
}
