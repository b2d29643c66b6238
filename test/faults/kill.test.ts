import { startServiceProcess } from '@gantry/standalone/testing'
import { expect, test } from 'vitest'
import { allApis, apiNamed, call, createApi, newFolder } from './src/service.ts'

const WRITERS = 16
const WRITES = 200
const folder = newFolder()

/** Creates, renames and deletes APIs until the service has acknowledged enough writes, then kills it while it writes. */
async function writeUntilItDies() {
  const service = await startServiceProcess(folder)
  /** Names of APIs by id, as acknowledged. Either name is valid while a rename is not acknowledged. */
  const live = new Map<string, string>()
  const gone = new Set<string>()
  const enough = Promise.withResolvers<void>()
  let acknowledged = 0
  const send = async (method: string, path: string, body?: object) => {
    const answer = await call<{ id: string }>(service, method, path, body)
    if (answer.status < 300 && ++acknowledged === WRITES) enough.resolve()
    return answer
  }
  const write = async (writer: number) => {
    for (let n = 0; ; n++) {
      const api = apiNamed(`w${writer}-${n}`)
      const { status, body } = await send('POST', '/apis', api)
      expect(status).toBe(201)
      live.set(body.id, api.name)
      if (n % 3 === 0) continue
      live.delete(body.id)
      if (n % 3 === 1) {
        const name = `${api.name}-renamed`
        expect((await send('PUT', `/apis/${body.id}`, { ...api, name })).status).toBe(200)
        live.set(body.id, name)
      } else {
        expect((await send('DELETE', `/apis/${body.id}`)).status).toBe(204)
        gone.add(body.id)
      }
    }
  }
  const failedBecauseItDied = (error: unknown) => {
    // fetch throws TypeError when the connection breaks. Other errors fail the test.
    if (!(error instanceof TypeError)) throw error
  }
  const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer).catch(failedBecauseItDied))
  await Promise.race([enough.promise, Promise.all(writers)])
  await service.kill()
  await Promise.all(writers)
  return { live, gone }
}

test('kill -9 under load loses no acknowledged write, and names of lost writes are free', async () => {
  const { live, gone } = await writeUntilItDies()
  expect(live.size).toBeGreaterThan(WRITERS)
  expect(gone.size).toBeGreaterThan(0)

  const service = await startServiceProcess(folder)
  for (const [id, name] of live)
    expect(await call(service, 'GET', `/apis/${id}`)).toMatchObject({ status: 200, body: { id, name } })
  for (const id of gone) expect((await call(service, 'GET', `/apis/${id}`)).status).toBe(404)

  const listed = await allApis(service)
  const names = new Set(listed.map(({ name }) => name))
  expect(names.size).toBe(listed.length)
  expect([...live.values()].filter(name => !names.has(name))).toEqual([])
  expect(listed.filter(({ id }) => gone.has(id))).toEqual([])

  // A writer that was killed between reserving a name and using it blocks the name for seconds at most.
  const isTaken = (name: string) => names.has(name) || names.has(`${name}-renamed`)
  for (let writer = 0; writer < WRITERS; writer++) {
    let n = 0
    while (n % 3 === 2 || isTaken(`w${writer}-${n}`)) n++
    await createApi(service, `w${writer}-${n}`)
  }
  expect(await service.stop()).toBe(0)
})
