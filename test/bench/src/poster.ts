import { createServer } from 'node:http'
import { Agent } from 'undici'

/** Baseline for deliveries: a bare loop that posts one body on keep-alive connections, without records. */
const { PORT, TARGET = '', BODY = '', CONNECTIONS = '64' } = process.env
const agent = new Agent({ connections: Number(CONNECTIONS), pipelining: 1 })
const { origin, pathname } = new URL(TARGET)

async function post(times: number) {
  const waiting = Array.from({ length: times }).values()
  await Promise.all(
    Array.from({ length: Number(CONNECTIONS) }, async () => {
      for (const _ of waiting) {
        const headers = { 'content-type': 'application/json' }
        const { statusCode, body } = await agent.request({
          origin,
          path: pathname,
          method: 'POST',
          headers,
          body: BODY,
        })
        if (statusCode !== 204) throw new Error(`answered ${statusCode}`)
        await body.dump()
      }
    }),
  )
}

/** GET /?times=10000 posts 10,000 times and returns the rate per second. */
createServer(async (request, response) => {
  const times = Number(new URL(request.url ?? '/', TARGET).searchParams.get('times') ?? 0)
  const startedAt = performance.now()
  await post(times)
  response.end(String(times / ((performance.now() - startedAt) / 1_000)))
}).listen(Number(PORT), '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))
