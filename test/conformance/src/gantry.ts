import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { inject } from 'vitest'
import type { Answer } from './answer.ts'
import { type Client, clientOf, type Query, type Service } from './client.ts'
import { contractOf } from './contract.ts'
import { recordIn } from './exercised.ts'
import type { AccessToken, Api, Job, Page, User, Version } from './records.ts'
import { secretsIn } from './secrets.ts'
import type { SharedRole } from './setup.ts'

/** The service under test, with the clients, unique names and resources that most stories need. */
export const service: Service = {
  baseUrl: inject('baseUrl'),
  contract: contractOf(inject('document')),
  exercised: recordIn(inject('exercised')),
  seen: secretsIn(inject('secrets')),
}
export const admin = clientOf(service, inject('adminAuthorization'))
export const anonymous = clientOf(service)

const worker = `${inject('run')}${randomBytes(2).toString('hex')}`
let names = 0
/** A name that no other story, worker or run uses; it is one term without spaces. */
export const unique = (word: string) => {
  names += 1
  return `${worker}-${word}-${names}`
}
export const uuid = () => randomUUID()

/**
 * For what may be eventually consistent by the documentation. Everything else is requested once.
 * @param timeout milliseconds. An attempt that begins later is the last: a slow answer is no failure.
 */
export const eventually = async <T>(assertion: () => Promise<T> | T, timeout = 10_000): Promise<T> => {
  for (const startedAt = performance.now(); ; await setTimeout(40)) {
    const last = performance.now() - startedAt > timeout
    try {
      return await assertion()
    } catch (error) {
      if (last) throw error
    }
  }
}

/** For what is immediate by the documentation, which allows one second until it holds on every replica. */
export const withinASecond = <T>(assertion: () => Promise<T> | T) => eventually(assertion, 1500)

const leftovers: string[] = []
/** Deletes the resource when the stories of the file have ended. */
export const cleanUp = (path: string) => leftovers.push(path)
/** Called after each file by `vitest.setup.ts`, since the files of a worker share this module. */
export const deleteLeftovers = () => Promise.all(leftovers.splice(0).map(path => admin.delete(path)))

export const apiFields = (fields: Partial<Api> = {}) => ({
  name: unique('api'),
  displayName: 'An API',
  status: 'ACTIVE',
  tags: [],
  ...fields,
})

export const createApi = async (fields: Partial<Api> = {}, client: Client = admin): Promise<Api> => {
  const api = (await client.post('/apis', apiFields(fields))).as<Api>(201)
  cleanUp(`/apis/${api.id}`)
  return api
}

export const readApi = async (id: string, query = {}) => (await admin.get(`/apis/${id}`, query)).as<Api>(200)

export const listApis = async (query: Query) => (await admin.get('/apis', query)).as<Page<Api>>(200)

/** The item of a list, from any of its pages; undefined when no page has it. */
export const findListed = async <Item extends { id: string }>(
  path: string,
  id: string,
  query: Query = {},
) => {
  for (let page = 1; ; page += 1) {
    const { content, last } = (await admin.get(path, { ...query, page, size: 100 })).as<Page<Item>>(200)
    const item = content.find(candidate => candidate.id === id)
    if (item || last) return item
  }
}

export const createVersion = async (api: Api, fields: Partial<Version> = {}) =>
  (await admin.post(`/apis/${api.id}/versions`, { name: '1.0', ...fields })).as<Version>(201)

/** Deploys and waits until the agent has reported success. */
export const deploy = async (api: Api, environment: string = uuid()) => {
  const job = (await admin.put(`/environments/${environment}/apis/${api.id}`)).as<Job>(202)
  await eventually(async () => {
    const { deployedOn = [] } = await readApi(api.id, { includeDeployedOn: true })
    if (!deployedOn.some(on => on.environment === environment))
      throw new Error(`Not deployed on ${environment}`)
  })
  return { job, environment }
}

/** Number of jobs that the agent gets before the one that is cancelled. */
const EARLIER_JOBS = 10

/**
 * Starts jobs until `cancel` reaches one that is still running, because the agent may report before the request arrives.
 * The agent takes one job at a time, so it reports this one after those of another API.
 * @param cancel cancels the job of an API and environment
 */
export const cancelled = async (api: Api, cancel: (path: string) => Promise<Answer>) => {
  const other = await createApi()
  const start = ({ id }: Api, environment: string) => admin.put(`/environments/${environment}/apis/${id}`)
  for (let tries = 1; ; tries += 1) {
    const earlier = Array.from({ length: EARLIER_JOBS }, () => start(other, uuid()))
    // A new environment each time, so that no earlier job conflicts.
    const environment = uuid()
    const job = (await start(api, environment)).as<Job>(202)
    const answer = await cancel(`/environments/${environment}/apis/${api.id}/cancel`)
    for (const started of await Promise.all(earlier)) started.is(202)
    if (answer.status !== 409 || tries === 100) return { job, environment, answer }
    answer.refused(409, 'deployment-not-running')
  }
}

export const PASSWORD = 'correct horse battery staple'

export const createUser = async (fields: Partial<User> & { password?: string } = {}): Promise<User> => {
  const username = unique('user')
  const user = (
    await admin.post('/users', {
      username,
      displayName: 'A User',
      email: `${username}@example.com`,
      role: 'ADMIN',
      status: 'ACTIVE',
      sso: false,
      password: PASSWORD,
      ...fields,
    })
  ).as<User>(201)
  cleanUp(`/users/${user.id}`)
  return user
}

export const logIn = (username: string, password = PASSWORD) =>
  anonymous.post('/login', { username, password })

/** A client with the login token of the user. */
export const loggedIn = async ({ username }: User, password = PASSWORD) =>
  clientOf(service, (await logIn(username, password)).is(200).headers.get('authorization') ?? '')

/** A user of the role that all stories share, with a login. Stories neither change them nor log them out. */
export const shared = (role: SharedRole) => {
  const { user, password, authorization } = inject('sharedUsers')[role]
  return { user, password, client: clientOf(service, authorization) }
}

export const withToken = (token: string) => clientOf(service, `Bearer ${token}`)

export const createToken = async (
  client: Client,
  scopes: string[],
  fields = {},
): Promise<AccessToken & { token: string }> =>
  (await client.post('/accessTokens', { name: unique('token'), scopes, ...fields })).as(201)

/** A client whose access token has only these scopes. It belongs to the shared administrator, who has all scopes. */
export const scopedTo = async (...scopes: string[]) =>
  withToken((await createToken(shared('GLOBAL_ADMIN').client, scopes)).token)

/** A platform event. `data` identifies the story, which tells its deliveries from those of other stories. */
export const platformEvent = (type: string, data: Record<string, unknown>) => ({
  specversion: '1.0',
  id: uuid(),
  source: '/conformance',
  type,
  data,
})

export const publish = (event: object, contentType = 'application/cloudevents+json') =>
  admin.post('/events', undefined, { body: JSON.stringify(event), headers: { 'content-type': contentType } })
