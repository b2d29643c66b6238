import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Beneath those that systems give to outgoing connections (from 32768 on Linux, from 49152 elsewhere). */
const LOWEST = 10_240
const BEYOND = 32_768

/**
 * A port of 127.0.0.1 that nobody uses now. One that the system chooses may go to the next outgoing connection before
 * its server listens; these it never gives away by itself.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, BEYOND)
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
