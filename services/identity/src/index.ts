export { type IdentityService, identityService } from './app.ts'
export type { Authenticate } from './authentication/authenticate.ts'
export type { EnsureAdministrator, FirstAdministrator } from './first-administrator.ts'
export { type IdentitySettings, identitySettings } from './settings.ts'
