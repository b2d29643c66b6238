import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { startServiceProcess } from '@gantry/standalone/testing'
import { expect, test } from 'vitest'
import { call, newFolder } from './src/service.ts'

const folder = newFolder()
const ADDRESSES = Array.from({ length: 12 }, (_, index) => `127.0.1.${index + 1}`)
/** As many as the service allows one address in a minute. */
const LOGINS = 20

test('logins from many addresses, known names or not, do not delay the login of another address', async () => {
  const service = await startServiceProcess(folder)
  const ada = { username: 'ada', password: 'correct horse battery staple' }
  const user = { ...ada, displayName: 'Ada', email: 'ada@example.org', role: 'USER' }
  expect((await call(service, 'POST', '/users', user)).status).toBe(201)
  const logIn = (localAddress: string, body: object) =>
    new Promise<{ status: number | undefined; retryAfter: string | undefined }>((resolve, reject) => {
      const headers = { 'content-type': 'application/json' }
      request(
        `${service.url}/login`,
        { method: 'POST', localAddress, headers, agent: false },
        async answer => {
          await text(answer)
          resolve({ status: answer.statusCode, retryAfter: answer.headers['retry-after'] })
        },
      )
        .on('error', reject)
        .end(JSON.stringify(body))
    })
  let checked = 0
  const flood = ADDRESSES.flatMap((address, index) =>
    Array.from({ length: LOGINS }, async (_, number) => {
      const username = index % 2 === 0 ? 'ada' : `nobody-${index}-${number}`
      const answer = await logIn(address, { username, password: 'wrong' })
      if (answer.status === 401) checked++
      return answer
    }),
  )
  await Promise.race(flood)
  const before = checked
  expect((await logIn('127.0.0.1', ada)).status).toBeOneOf([200, 401, 429])
  // Its turn comes in the next round of addresses, or a round takes longer than a login may wait.
  expect(checked - before).toBeLessThan(2 * ADDRESSES.length)
  // Logins that waited too long are refused, without a check of their passwords.
  expect(checked).toBeLessThan((ADDRESSES.length * LOGINS) / 4)
  for (const { status, retryAfter } of await Promise.all(flood)) {
    expect(status).toBeOneOf([401, 429])
    if (status === 429) expect(retryAfter).toBe('3')
  }
  await service.stop()
})
