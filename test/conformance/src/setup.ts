import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { type Client, clientOf, type Service } from './client.ts'
import { contractOf, type OpenApi } from './contract.ts'
import { recordIn } from './exercised.ts'
import type { User } from './records.ts'
import { secretsIn } from './secrets.ts'
import { RUN_SETTINGS, startStandalone } from './standalone.ts'

/** The platform JWT as configured in the service under test, with the private key that the suite signs with. */
export interface PlatformJwt {
  privateKey: string
  issuer: string
  audience: string
  userClaim: string
}

const SHARED_ROLES = ['GLOBAL_ADMIN', 'ADMIN', 'USER'] as const
export type RunRole = (typeof SHARED_ROLES)[number]
type SharedUsers = Record<RunRole, { user: User; password: string; authorization: string }>

declare module 'vitest' {
  interface ProvidedContext {
    baseUrl: string
    document: OpenApi
    adminAuthorization: string
    admin: { username: string; password: string }
    /** Users that no story changes, one of each role. Each user and each login costs a password hash. */
    sharedUsers: SharedUsers
    /** Prefix of all names of this run, so that the service may contain other data. */
    run: string
    exercised: string
    /** File of the secrets that the stories have sent or received. */
    secrets: string
    /** Folder of the service's logs, if known. */
    logs: string | undefined
    basePath: string
    /** A position after which the given service has removed events because of their age. */
    removedPosition: string | undefined
    platformJwt: PlatformJwt | undefined
  }
}

const environment = (name: string) => {
  const value = process.env[name]
  if (!value) throw new Error(`BASE_URL is set, so ${name} is needed as well`)
  return value
}

const givenService = (baseUrl: string) => {
  const { PLATFORM_JWT_PRIVATE_KEY: privateKey } = process.env
  return {
    baseUrl: baseUrl.replace(/\/+$/, ''),
    admin: { username: environment('ADMIN_USERNAME'), password: environment('ADMIN_PASSWORD') },
    platformJwt: privateKey
      ? {
          privateKey,
          issuer: environment('PLATFORM_JWT_ISSUER'),
          audience: environment('PLATFORM_JWT_AUDIENCE'),
          userClaim: environment('PLATFORM_JWT_USER_CLAIM'),
        }
      : undefined,
    logs: process.env.LOGS,
    stop: async () => {},
  }
}

const ownService = async (folder: string) => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const platformJwt = {
    privateKey,
    issuer: 'https://platform.example',
    audience: 'gantry',
    userClaim: 'account',
  }
  const admin = { username: 'conformance', password: randomBytes(12).toString('hex') }
  const logs = join(folder, 'logs')
  await mkdir(logs)
  const service = await startStandalone(
    {
      ...RUN_SETTINGS,
      DATA_DIR: join(folder, 'data'),
      GANTRY_ADMIN_USERNAME: admin.username,
      GANTRY_ADMIN_PASSWORD: admin.password,
      PLATFORM_JWT_PUBLIC_KEY: publicKey,
      PLATFORM_JWT_ISSUER: platformJwt.issuer,
      PLATFORM_JWT_AUDIENCE: platformJwt.audience,
      PLATFORM_JWT_USER_CLAIM: platformJwt.userClaim,
    },
    logs,
  )
  return { ...service, admin, platformJwt, logs }
}

/** Creates the shared users and logs them in. */
const createSharedUsers = async (service: Service, admin: Client): Promise<SharedUsers> => {
  const password = randomBytes(12).toString('hex')
  const create = async (role: RunRole) => {
    const username = `shared-${role.toLowerCase().replace('_', '-')}-${randomBytes(4).toString('hex')}`
    const fields = { username, displayName: 'Shared', role, status: 'ACTIVE', sso: false, password }
    const user = (await admin.post('/users', fields)).as<User>(201)
    const login = (await clientOf(service).post('/login', { username, password })).is(200)
    const authorization = login.headers.get('authorization') ?? ''
    return [role, { user, password, authorization }] as const
  }
  return Object.fromEntries(await Promise.all(SHARED_ROLES.map(create))) as SharedUsers
}

/** Uses the service at BASE_URL or starts one, logs in, and provides the service and its users to the stories. */
export const setup = async (project: TestProject) => {
  const folder = await mkdtemp(join(tmpdir(), 'conformance-'))
  const given = process.env.BASE_URL
  const { baseUrl, ...started } = given ? givenService(given) : await ownService(folder)
  let deleteUsers: () => Promise<unknown> = async () => {}
  const stop = async () => {
    try {
      await deleteUsers()
      await started.stop()
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  try {
    const exercised = join(folder, 'exercised')
    await writeFile(exercised, '')
    const secrets = join(folder, 'secrets')
    await writeFile(secrets, '')
    const document = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as OpenApi
    const service: Service = {
      baseUrl,
      contract: contractOf(document),
      exercised: recordIn(exercised),
      seen: secretsIn(secrets),
    }
    const login = (await clientOf(service).post('/login', started.admin)).is(200)
    const adminAuthorization = login.headers.get('authorization') ?? ''
    const admin = clientOf(service, adminAuthorization)
    const sharedUsers = await createSharedUsers(service, admin)
    deleteUsers = () =>
      Promise.all(Object.values(sharedUsers).map(({ user }) => admin.delete(`/users/${user.id}`)))

    project.provide('baseUrl', baseUrl)
    project.provide('document', document)
    project.provide('admin', started.admin)
    project.provide('adminAuthorization', adminAuthorization)
    project.provide('sharedUsers', sharedUsers)
    project.provide('run', `c${Date.now().toString(36)}`)
    project.provide('exercised', exercised)
    project.provide('secrets', secrets)
    project.provide('logs', started.logs)
    project.provide('basePath', new URL(baseUrl).pathname.replace(/\/$/, ''))
    project.provide('removedPosition', process.env.REMOVED_POSITION)
    project.provide('platformJwt', started.platformJwt)
  } catch (error) {
    await stop()
    throw error
  }
  return stop
}
