import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import { expect, test } from 'vitest'

const ROUNDS = 4
const WRITERS = 16

interface Acknowledged {
  id: string
  name: string
}

/**
 * Creates, renames and deletes APIs until the service is killed, and records what was acknowledged. The service is killed
 * after a number of acknowledged writes that depends on the round, so that how fast it writes does not matter.
 */
async function writeUntilItDies(
  service: ServiceProcess,
  round: number,
  live: Map<string, Acknowledged>,
  gone: Set<string>,
) {
  const headers = { authorization: service.authorization, 'content-type': 'application/json' }
  const enough = Promise.withResolvers<void>()
  let acknowledged = 0
  const send = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${service.url}${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    if (answer.ok && ++acknowledged === 100 + round * 25) enough.resolve()
    return answer
  }
  const write = async (writer: number) => {
    for (let n = 0; ; n++) {
      const api = { name: `r${round}-w${writer}-${n}`, displayName: 'x', status: 'ACTIVE', tags: [] }
      const created = await send('POST', '/apis', api)
      expect(created.status).toBe(201)
      const { id } = (await created.json()) as { id: string }
      live.set(id, { id, name: api.name })
      if (n % 3 === 1) {
        // Before the rename is acknowledged, either name is valid.
        live.delete(id)
        const renamed = await send('PUT', `/apis/${id}`, { ...api, name: `${api.name}-renamed` })
        if (renamed.status === 200) live.set(id, { id, name: `${api.name}-renamed` })
      }
      if (n % 3 === 2) {
        live.delete(id)
        const deleted = await send('DELETE', `/apis/${id}`)
        if (deleted.status === 204) gone.add(id)
      }
    }
  }
  const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer).catch(failedBecauseItDied))
  try {
    await Promise.race([enough.promise, Promise.all(writers)])
  } finally {
    await service.kill()
  }
  await Promise.all(writers)
}

function failedBecauseItDied(error: unknown): void {
  // fetch throws TypeError when the connection breaks. Other errors fail the test.
  if (!(error instanceof TypeError)) throw error
}

test('kill -9 under load loses no acknowledged write, and names of lost writes are free', {
  timeout: 120_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-kill-'))
  const live = new Map<string, Acknowledged>()
  const gone = new Set<string>()
  let last: ServiceProcess | undefined
  try {
    for (let round = 0; round < ROUNDS; round++) {
      await writeUntilItDies(await startServiceProcess(folder), round, live, gone)
    }
    const service = await startServiceProcess(folder)
    last = service
    const headers = { authorization: service.authorization, 'content-type': 'application/json' }
    expect(live.size).toBeGreaterThan(ROUNDS * WRITERS)
    for (const { id, name } of live.values()) {
      const answer = await fetch(`${service.url}/apis/${id}`, { headers })
      expect({ status: answer.status, body: await answer.json() }).toMatchObject({
        status: 200,
        body: { id, name },
      })
    }
    for (const id of gone) expect((await fetch(`${service.url}/apis/${id}`, { headers })).status).toBe(404)

    const listed = new Set<string>()
    for (let page = 1, last = false; !last; page++) {
      const body = (await (await fetch(`${service.url}/apis?size=100&page=${page}`, { headers })).json()) as {
        content: Acknowledged[]
        last: boolean
      }
      for (const { id, name } of body.content) {
        expect(listed.has(name)).toBe(false)
        listed.add(name)
        expect(gone.has(id)).toBe(false)
      }
      last = body.last
    }
    for (const { name } of live.values()) expect(listed.has(name)).toBe(true)

    // A writer that was killed between reserving a name and using it blocks the name for seconds at most.
    for (let writer = 0; writer < WRITERS; writer++) {
      for (let n = 0, free = true; free; n++) {
        const name = `r${ROUNDS - 1}-w${writer}-${n}`
        if (listed.has(name) || listed.has(`${name}-renamed`) || n % 3 === 2) continue
        const api = { name, displayName: 'x', status: 'ACTIVE', tags: [] }
        const answer = await fetch(`${service.url}/apis`, {
          method: 'POST',
          headers,
          body: JSON.stringify(api),
        })
        expect(answer.status).toBe(201)
        free = false
      }
    }
    expect(await service.stop()).toBe(0)
  } finally {
    // Stops the service if an expectation failed.
    await last?.kill()
    await rm(folder, { recursive: true })
  }
})
