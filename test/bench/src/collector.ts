import { createServer } from 'node:http'

/** A collector of traces that drops them. */
createServer((request, response) => void request.resume().once('end', () => response.end())).listen(
  Number(process.env.PORT),
  '127.0.0.1',
)
process.on('SIGTERM', () => process.exit(0))
