import { createServer } from 'node:http'
import { Webhook } from 'standardwebhooks'

const { RECEIVER_PORT = '9000', WEBHOOK_SECRET } = process.env
const webhook = WEBHOOK_SECRET ? new Webhook(WEBHOOK_SECRET) : undefined

/** Whether the signature is valid; undefined without a secret to check it with. */
function verified(body: string, headers: Record<string, string>): boolean | undefined {
  if (!webhook) return undefined
  try {
    webhook.verify(body, headers)
    return true
  } catch {
    return false
  }
}

/** A receiver of webhooks for demonstrations. It prints each request and responds with 204, or 400 for a wrong signature. */
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks).toString()
  const good = verified(body, request.headers as Record<string, string>)
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
