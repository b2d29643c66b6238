import { type Host, hostService } from '@gantry/service-runtime/testing'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { IdentityService } from './app.ts'
import { cheapIdentity } from './testing/identity-host.ts'

let host: Host<IdentityService>
beforeEach(async () => {
  host = await hostService(dependencies => cheapIdentity(dependencies))
  await vi.waitFor(() => expect(host.service.waitingFor()).toBeUndefined())
})
afterEach(() => host.close())

const logIn = async (username: string, password = '') =>
  (await host.app.inject({ method: 'POST', url: '/login', payload: { username, password } })).statusCode

describe('the first administrator', () => {
  test('gets the configured password, which is neither returned nor announced', async () => {
    const announced: unknown[] = []
    const password = 'as configured by somebody'
    const announce = (credentials: object) => void announced.push(credentials)
    expect(await host.service.ensureAdministrator({ username: 'root', password, announce })).toEqual({
      created: true,
      username: 'root',
    })
    expect(announced).toEqual([{ username: 'root', password: undefined }])
    expect(await logIn('root', password)).toBe(200)
  })

  test('is created once, with one password, by two replicas that start at the same time', async () => {
    const process = { ...host.dependencies.process, metrics: new Registry(), holder: 'other' }
    const other = cheapIdentity({ ...host.dependencies, process })
    const said: (string | undefined)[] = []
    const announce = ({ password }: { password: string | undefined }) => void said.push(password)
    const both = await Promise.all(
      [host.service, other].map(service => service.ensureAdministrator({ username: 'admin', announce })),
    )
    expect(both.map(({ created }) => created).toSorted()).toEqual([false, true])
    expect(new Set(said).size).toBe(1)
    expect(await logIn('admin', said[0])).toBe(200)
  })

  test('is not created again after it was deleted', async () => {
    await host.service.ensureAdministrator({ username: 'admin' })
    const call = async (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) =>
      (await host.app.inject({ method, url, ...(payload && { payload }) })).body
    const { content } = JSON.parse(await call('GET', '/users'))
    await call('POST', '/users', { username: 'other', role: 'GLOBAL_ADMIN', password: 'a long enough one' })
    await call('DELETE', `/users/${content[0].id}`)
    await host.restart()
    expect((await host.service.ensureAdministrator({ username: 'admin' })).created).toBe(false)
    expect(JSON.parse(await call('GET', '/users')).content).toMatchObject([{ username: 'other' }])
  })

  test('is announced before it is created, with the same password after an interrupted first start', async () => {
    const dying = host.service.ensureAdministrator({
      username: 'admin',
      announce() {
        throw new Error('the process died')
      },
    })
    await expect(dying).rejects.toThrow('died')
    let said: string | undefined
    const { created, password } = await host.service.ensureAdministrator({
      username: 'admin',
      announce: credentials => {
        said = credentials.password
      },
    })
    expect({ created, password }).toEqual({ created: true, password: said })
  })
})
