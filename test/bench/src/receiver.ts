import { createServer } from 'node:http'

/**
 * Receives webhooks at every path. GET /count returns the number of requests and the time of the last one. GET /delays
 * returns the milliseconds from the commit of each event to its arrival, by the first segment of the path, and resets them.
 * Responses at /drip send one byte per second and do not end.
 */
const delays = new Map<string, number[]>()
let count = 0
let last = 0

createServer(async (request, response) => {
  const { method, url = '/' } = request
  if (method === 'GET') {
    response.setHeader('content-type', 'application/json')
    if (url === '/delays') {
      response.end(JSON.stringify(Object.fromEntries(delays)))
      return delays.clear()
    }
    return response.end(JSON.stringify({ count, last }))
  }
  const at = Date.now()
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  if (url.startsWith('/drip')) {
    response.writeHead(200)
    const dripping = setInterval(() => response.write('.'), 1_000)
    return response.once('close', () => clearInterval(dripping))
  }
  const { timestamp } = JSON.parse(Buffer.concat(chunks).toString())
  const [, kind = ''] = url.split('/')
  const known = delays.get(kind) ?? []
  known.push(at - Date.parse(timestamp))
  delays.set(kind, known)
  count++
  last = at
  return response.writeHead(204).end()
}).listen(Number(process.env.PORT), '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))
