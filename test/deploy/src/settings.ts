import { catalogSettings } from '@gantry/catalog'
import { gatewayProcessSettings } from '@gantry/gateway'
import { serviceSettings, urlsOfServices } from '@gantry/hosting'
import { identitySettings } from '@gantry/identity'
import { mediaSettings } from '@gantry/media'
import { notifierSettings } from '@gantry/notifier'
import type { z } from 'zod'

/** With the URLs of all services, which operators' commands in the container of a service read. */
const service = (own: z.ZodObject) => serviceSettings.safeExtend({ ...urlsOfServices.shape, ...own.shape })

/** The settings of each process in the environment. */
export const SETTINGS: Readonly<Record<string, z.ZodObject>> = {
  gateway: gatewayProcessSettings,
  catalog: service(catalogSettings),
  identity: service(identitySettings),
  media: service(mediaSettings),
  notifier: service(notifierSettings),
}

export const PROCESSES = Object.keys(SETTINGS)

/** The given names that are not settings of the process, with or without the suffix _FILE. */
export function unread(name: string, given: readonly string[]): string[] {
  const known = Object.keys(SETTINGS[name]?.shape ?? {})
  return given.filter(setting => !known.includes(setting.replace(/_FILE$/, '')))
}
