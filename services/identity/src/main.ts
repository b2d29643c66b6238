import { runService } from '@gantry/hosting/service'
import { type FirstAdministrator, identityService, identitySettings } from './index.ts'

const announce: FirstAdministrator['announce'] = ({ username, password = 'as in GANTRY_ADMIN_PASSWORD' }) =>
  process.stdout.write(
    `First start: this administrator is created now.\n  username  ${username}\n  password  ${password}\n`,
  )

await runService({
  name: 'identity',
  settings: identitySettings,
  environment: process.env,
  make: ({ userKeys, ...dependencies }, settings) =>
    identityService({ ...dependencies, userKeys: userKeys() }, settings),
  prepare: async (identity, { GANTRY_ADMIN_USERNAME: username, GANTRY_ADMIN_PASSWORD: password }) =>
    void (await identity.ensureAdministrator({ username, password, announce })),
})
