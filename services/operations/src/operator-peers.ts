import { resolve } from 'node:path'
import type { ServiceRequest } from '@gantry/contracts'
import { keySettings, processOn, servicesAt, urlsOfServices } from '@gantry/hosting'
import { basePath, derivedPrincipalKey, type Peers, readSettings, Unanswered } from '@gantry/service-runtime'
import { z } from 'zod'
import { CommandFailed } from './command.ts'

const where = z.object({ DATA_DIR: z.string().default('./data'), MESSAGING_URL: z.string().optional() })
const services = keySettings.extend({
  BASE_PATH: basePath.default(''),
  ...urlsOfServices.pick({ IDENTITY_URL: true, NOTIFIER_URL: true }).shape,
})

/**
 * The running services: with MESSAGING_URL separate processes at the URLs of the settings, otherwise the process that uses
 * the data folder.
 * @throws SettingsRefused
 */
export async function operatorPeers(environment: NodeJS.ProcessEnv): Promise<Pick<Peers, 'ask'>> {
  const { DATA_DIR, MESSAGING_URL } = readSettings(where, environment)
  if (!MESSAGING_URL) return processOn(resolve(DATA_DIR))
  const { BASE_PATH, ENCRYPTION_KEY, PRINCIPAL_KEY, ...urls } = readSettings(services, environment)
  const key = PRINCIPAL_KEY ?? derivedPrincipalKey(ENCRYPTION_KEY.first.bytes)
  const { IDENTITY_URL: identity, NOTIFIER_URL: notifier } = urls
  return servicesAt({ identity, notifier }, { basePath: BASE_PATH, key })
}

/** Sends a request of an operator. @throws CommandFailed, with `unanswered` if it may have been carried out */
export async function ask<Asked extends z.ZodType, Answer extends z.ZodType>(
  peers: Pick<Peers, 'ask'>,
  request: ServiceRequest<Asked, Answer>,
  asked: z.input<Asked>,
  unanswered: string,
): Promise<z.output<Answer>> {
  try {
    return await peers.ask(request, asked)
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error
    if (error.mayBeDone) throw new CommandFailed(unanswered)
    throw new CommandFailed(
      `no ${request.service} service answers (${error.reason}): start it first, nothing was changed`,
    )
  }
}
