import { Agent, createServer, get } from 'node:http'
import { setTimeout } from 'node:timers/promises'

/**
 * COUNT followers of the event stream at URL, each on its own connection. A follower that is refused or disconnected tries
 * again after 2 s with the same URL. GET / returns the counts so far.
 */
const { PORT, COUNT, URL: url = '', AUTHORIZATION: authorization = '' } = process.env
const agent = new Agent()
const told = { streams: 0, refused: 0, failed: 0, bytes: 0 }

function follow(): Promise<void> {
  return new Promise(resolve => {
    const asked = get(url, { agent, headers: { authorization, accept: 'application/x-ndjson' } }, answer => {
      const isStream = answer.statusCode === 200
      if (isStream) told.streams++
      else if (answer.statusCode === 503 && answer.headers['retry-after']) told.refused++
      else told.failed++
      answer.on('data', (chunk: Buffer) => (told.bytes += chunk.length)).on('error', () => {})
      answer.on('close', () => {
        if (isStream) told.streams--
        resolve()
      })
    })
    asked.on('error', () => {
      told.failed++
      resolve()
    })
  })
}

const server = createServer((_request, answer) => answer.end(JSON.stringify(told)))
server.listen(Number(PORT), '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))
for (let n = 0; n < Number(COUNT); n++) keepFollowing()

async function keepFollowing() {
  for (;;) {
    await follow()
    await setTimeout(2_000)
  }
}
