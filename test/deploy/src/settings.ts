import { catalogSettings } from '@gantry/catalog'
import { gatewayProcessSettings } from '@gantry/gateway'
import { serviceSettings } from '@gantry/hosting'
import { identitySettings } from '@gantry/identity'
import { mediaSettings } from '@gantry/media'
import { notifierSettings } from '@gantry/notifier'
import type { z } from 'zod'

const service = (own: z.ZodObject) => serviceSettings.extend(own.shape)

/** What each process reads from the environment. */
export const SETTINGS: Readonly<Record<string, z.ZodObject>> = {
  gateway: gatewayProcessSettings,
  catalog: service(catalogSettings),
  identity: service(identitySettings),
  media: service(mediaSettings),
  notifier: service(notifierSettings),
}

export const PROCESSES = Object.keys(SETTINGS)

/** Those of the names that the process does not read, neither as they are nor as the file that they lead to. */
export function unread(name: string, given: readonly string[]): string[] {
  const known = Object.keys(SETTINGS[name]?.shape ?? {})
  return given.filter(setting => !known.includes(setting.replace(/_FILE$/, '')))
}
