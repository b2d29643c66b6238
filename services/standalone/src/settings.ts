import { catalogSettings } from '@gantry/catalog'
import { gatewaySettings } from '@gantry/gateway'
import { serverSettings } from '@gantry/hosting'
import { identitySettings } from '@gantry/identity'
import { mediaSettings } from '@gantry/media'
import { notifierSettings } from '@gantry/notifier'
import { encryptionKeys } from '@gantry/service-runtime'
import { z } from 'zod'

const embedded = (what: string) =>
  z
    .string()
    .regex(/^sqlite:.+/, { error: `must be sqlite:PATH here: npm start stores ${what} in a file` })
    .transform(url => url.slice('sqlite:'.length))
    .optional()

/** The settings of the standalone process in the environment. */
export const settingsSchema = serverSettings.extend({
  HOST: serverSettings.shape.HOST.unwrap().default('localhost'),
  LOG_LEVEL: serverSettings.shape.LOG_LEVEL.unwrap().default('warn'),
  DATA_DIR: z.string().default('./data'),
  ENCRYPTION_KEY: encryptionKeys().optional(),
  EVENT_STORE_URL: embedded('the log'),
  READ_MODEL_URL: embedded('the read models'),
  USER_KEY_URL: embedded('the keys of users'),
  ...gatewaySettings.shape,
  ...catalogSettings.shape,
  ...identitySettings.shape,
  ...mediaSettings.shape,
  ...notifierSettings.shape,
})
export type Settings = z.infer<typeof settingsSchema>

/** The settings with the default of PUBLIC_URL: clients are on this machine. None if PORT stands for any free port. */
export function withPublicUrl(settings: Settings): Settings {
  const { PORT, BASE_PATH, PUBLIC_URL } = settings
  const local = PORT === 0 ? undefined : `http://localhost:${PORT}${BASE_PATH}`
  return { ...settings, PUBLIC_URL: PUBLIC_URL ?? local }
}
