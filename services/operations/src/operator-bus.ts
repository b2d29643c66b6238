import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { sqliteBus } from '@gantry/embedded'
import { busSettings } from '@gantry/hosting'
import { openBus } from '@gantry/hosting/bus'
import { type Bus, type Json, NoResponder, RequestTimeout } from '@gantry/messaging'
import { readSettings } from '@gantry/service-runtime'
import { z } from 'zod'
import { CommandFailed } from './command.ts'

/** The first request may go to a process that has just died. */
const TRIES = 3

const schema = busSettings.partial().extend({ DATA_DIR: z.string().default('./data') })

/**
 * The bus of the running service: that of MESSAGING_URL, or that of the data folder.
 * @param service names the service for the operator
 * @throws CommandFailed when the data folder has no bus
 */
export function operatorBus(environment: NodeJS.ProcessEnv, service: string): Bus {
  const { DATA_DIR, MESSAGING_URL, ...settings } = readSettings(schema, environment)
  if (MESSAGING_URL) {
    const quiet = () => {}
    return openBus(
      { MESSAGING_URL, ...settings },
      { name: 'operator', log: { info: quiet, warn: quiet, error: quiet } },
    ).store
  }
  const path = join(resolve(DATA_DIR), 'messages.db')
  if (!existsSync(path)) throw notRunning(service)
  return sqliteBus({ path })
}

/** An idempotent request to a service of the installation. */
export interface OperatorRequest {
  subject: string
  body: Json
  /** Names the service for the operator. */
  service: string
  timeoutMs: number
  /** What the operator is told if no answer comes in time. */
  unanswered: string
}

/** Sends the request, and repeats it after a timeout. @throws CommandFailed when no service runs, or none answers in time */
export async function ask(
  bus: Bus,
  { subject, body, service, timeoutMs, unanswered }: OperatorRequest,
): Promise<Json> {
  for (let tries = 1; ; tries++) {
    try {
      return await bus.request(subject, body, { timeoutMs })
    } catch (error) {
      if (error instanceof NoResponder) throw notRunning(service)
      if (!(error instanceof RequestTimeout)) throw error
      if (tries === TRIES) throw new CommandFailed(unanswered)
    }
  }
}

const notRunning = (service: string) =>
  new CommandFailed(`no ${service} service answers: start it first, nothing was changed`)
