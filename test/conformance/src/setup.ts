import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { clientOf } from './client.ts'
import { contractOf, type OpenApi } from './contract.ts'
import { recordIn } from './exercised.ts'
import { RUN_SETTINGS } from './run-settings.ts'
import { secretsIn } from './secrets.ts'
import { startStandalone } from './standalone.ts'

/** The platform JWT as configured in the service under test, with the private key that the suite signs with. */
export interface PlatformJwt {
  privateKey: string
  issuer: string
  audience: string
  userClaim: string
}

declare module 'vitest' {
  interface ProvidedContext {
    baseUrl: string
    document: OpenApi
    adminAuthorization: string
    admin: { username: string; password: string }
    /** Prefix of all names of this run, so that the service may contain other data. */
    run: string
    exercised: string
    /** File of the secrets that the stories have sent or received. */
    secrets: string
    /** Folder of the service's logs, if known. */
    logs: string | undefined
    basePath: string
    /** Whether the suite started the service. Then stories may start further services with other settings. */
    ownService: boolean
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
  const stop = async () => {
    const code = await service.stop()
    if (code !== 0) {
      throw new Error(
        `SIGTERM ended the service with ${code} instead of 0:\n${service.printed().slice(-4000)}`,
      )
    }
  }
  return { baseUrl: service.baseUrl, admin, platformJwt, logs, stop }
}

/** Uses the service at BASE_URL or starts one, logs the administrator in, and provides both to the stories. */
export const setup = async (project: TestProject) => {
  const folder = await mkdtemp(join(tmpdir(), 'conformance-'))
  const given = process.env.BASE_URL
  const service = given ? givenService(given) : await ownService(folder)
  const stop = async () => {
    try {
      await service.stop()
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  try {
    const exercised = join(folder, 'exercised')
    await writeFile(exercised, '')
    const secrets = join(folder, 'secrets')
    await writeFile(secrets, '')
    const document = (await (await fetch(`${service.baseUrl}/openapi.json`)).json()) as OpenApi
    const anonymous = clientOf({
      baseUrl: service.baseUrl,
      contract: contractOf(document),
      exercised: recordIn(exercised),
      seen: secretsIn(secrets),
    })
    const login = await anonymous.post('/login', service.admin)

    project.provide('baseUrl', service.baseUrl)
    project.provide('document', document)
    project.provide('admin', service.admin)
    project.provide('adminAuthorization', login.is(200).headers.get('authorization') ?? '')
    project.provide('run', `c${Date.now().toString(36)}`)
    project.provide('exercised', exercised)
    project.provide('secrets', secrets)
    project.provide('logs', service.logs)
    project.provide('basePath', new URL(service.baseUrl).pathname.replace(/\/$/, ''))
    project.provide('ownService', !given)
    project.provide('removedPosition', process.env.REMOVED_POSITION)
    project.provide('platformJwt', service.platformJwt)
  } catch (error) {
    await stop()
    throw error
  }
  return stop
}
