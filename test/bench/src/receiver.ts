import { createServer } from 'node:http'

/** Receives webhooks: notes when each arrived, and tells at GET /arrivals as [event's resource id, milliseconds]. */
const arrivals: [string, number][] = []
createServer(async (request, response) => {
  if (request.method === 'GET') {
    response.setHeader('content-type', 'application/json')
    if (request.url === '/count')
      return response.end(JSON.stringify({ count: arrivals.length, last: arrivals.at(-1)?.[1] ?? 0 }))
    return response.end(request.url === '/arrivals' ? JSON.stringify(arrivals.splice(0)) : '{}')
  }
  const at = Date.now()
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  arrivals.push([JSON.parse(Buffer.concat(chunks).toString()).data.id, at])
  return response.writeHead(204).end()
}).listen(Number(process.env.PORT), '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))
