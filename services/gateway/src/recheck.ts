import { exportAuditLog, type Operation, PROBLEMS, type Principal, Refusal } from '@gantry/contracts'
import { type Admit, requireScope } from '@gantry/service-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { credentialOf, type Principals } from './principals.ts'

/** Determines the principal of an admitted request again. @throws Refusal when the operation is no longer allowed */
export type Recheck = (request: FastifyRequest, operation: Operation) => Promise<Principal>

export const recheckOf =
  (principals: Principals): Recheck =>
  async (request, operation) => {
    const credential = credentialOf(request)
    const principal = principals.cached(credential) ?? (await principals.ask(credential))
    requireScope(principal, operation)
    return principal
  }

interface Rechecking {
  everyMs: number
  recheck(): Promise<Principal>
  /** Called after each check that admits the caller. */
  admitted?(principal: Principal): void
  /** Called after each check that refuses the caller. */
  refused(): void
}

/** Checks the caller of a long response again and again, until its connection closes. A failed check changes nothing. */
export function recheckRegularly(
  reply: FastifyReply,
  { everyMs, recheck, admitted, refused }: Rechecking,
): void {
  const timer = setInterval(() => {
    recheck().then(admitted, error => {
      if (isRefused(error)) refused()
    })
  }, everyMs)
  reply.raw.once('close', () => clearInterval(timer))
  if (reply.raw.destroyed) clearInterval(timer)
}

/** False when identity is unavailable. */
const isRefused = (error: unknown) => error instanceof Refusal && PROBLEMS[error.code].status < 500

const EVERY_MS = 1_000

/** Admits requests like `admit`. Breaks the connection of an export of the audit log once its caller is refused. */
export const endingExports =
  (admit: Admit, recheck: Recheck): Admit =>
  (request, reply, operation) => {
    const admitted = admit(request, reply, operation)
    if (operation.id === exportAuditLog.id)
      recheckRegularly(reply, {
        everyMs: EVERY_MS,
        recheck: () => recheck(request, operation),
        refused() {
          // Before the response begins, the check is repeated: a connection without a response is retried by proxies.
          if (reply.raw.headersSent) reply.raw.destroy()
        },
      })
    return admitted
  }
