import { createServer, type RequestListener, type Server } from 'node:http'
import { json } from 'node:stream/consumers'
import { PRINCIPAL_HEADER } from '@gantry/service-kit'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { askingIdentity } from './asking-identity.ts'
import { replicas } from './replicas.ts'

let opened: Server[]
beforeEach(() => {
  opened = []
})
afterEach(() => {
  for (const server of opened) {
    server.closeAllConnections()
    server.close()
  }
})

async function replica(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  opened.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`
}

const asking = (urls: string[]) => {
  const options = { basePath: '/gantry', now: () => new Date(), log: pino({ level: 'silent' }) }
  return askingIdentity({
    identity: replicas({ urls, ...options }),
    basePath: '/gantry',
    pass: () => 'a pass',
  })
}

test('a replica says whose credential it is', async () => {
  const identity = await replica(async (request, response) => {
    const { url, headers } = request
    const given = { url, pass: headers[PRINCIPAL_HEADER], body: await json(request) }
    response.end(JSON.stringify(given))
  })
  expect(await asking([identity])('secret')).toEqual({
    url: '/gantry/inside/authenticate',
    pass: 'a pass',
    body: { credential: 'secret' },
  })
})

test('a refusal is passed on, and nobody else is asked', async () => {
  let asked = 0
  const refusing = await replica((_request, response) => {
    asked++
    const problem = { type: 'urn:x', title: 'No', status: 401, detail: 'It has expired', instance: '/' }
    const full = { ...problem, code: 'unauthenticated', requestId: 'r', timestamp: 't' }
    response.writeHead(401, { 'content-type': 'application/problem+json' }).end(JSON.stringify(full))
  })
  await expect(asking([refusing, refusing])('old')).rejects.toMatchObject({
    name: 'RequestFailed',
    code: 'unauthenticated',
    details: { detail: 'It has expired' },
  })
  expect(asked).toBe(1)
})

test('another replica is asked when one breaks off; when none answers, identity is away', async () => {
  const breaking = await replica(request => void request.socket.destroy())
  const identity = await replica((_request, response) => void response.end('{"userId":"u"}'))
  const ask = asking([breaking, identity])
  for (let i = 0; i < 4; i++) expect(await ask('secret')).toEqual({ userId: 'u' })
  await expect(asking([breaking])('secret')).rejects.toMatchObject({ code: 'unavailable' })
})
