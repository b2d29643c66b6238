import { createServer, type IncomingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { verifyWebhook } from '@gantry/client'

const { RECEIVER_PORT = '9000', WEBHOOK_SECRET: secret } = process.env

/** Whether the signature is valid; undefined without a secret to check it with. */
async function verified(body: Buffer, headers: IncomingHttpHeaders): Promise<boolean | undefined> {
  if (!secret) return undefined
  try {
    await verifyWebhook({ headers, body, secret })
    return true
  } catch {
    return false
  }
}

/** A receiver of webhooks for demonstrations. It prints each request and responds with 204, or 400 for a wrong signature. */
const server = createServer(async (request, response) => {
  const body = await buffer(request)
  const good = await verified(body, request.headers)
  const word =
    good === undefined ? 'not checked (set WEBHOOK_SECRET)' : good ? 'signature good' : 'SIGNATURE WRONG'
  process.stdout.write(`${new Date().toISOString()} ${request.headers['webhook-id']} ${word}\n${body}\n\n`)
  response.writeHead(good === false ? 400 : 204).end()
})
server.on('error', (error: NodeJS.ErrnoException) => {
  process.stderr.write(
    `receiver: ${error.code === 'EADDRINUSE' ? `port ${RECEIVER_PORT} is taken: choose another with RECEIVER_PORT` : error.message}\n`,
  )
  process.exit(1)
})
server.listen(Number(RECEIVER_PORT), '127.0.0.1', () => {
  process.stdout.write(
    `Receives webhooks at http://127.0.0.1:${RECEIVER_PORT}/ and prints them; stop it with Ctrl-C\n`,
  )
})
