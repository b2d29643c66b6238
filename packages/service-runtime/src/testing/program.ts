import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Ports below the range for outgoing connections (from 32768 on Linux, from 49152 elsewhere). */
const LOWEST = 10_240
const BEYOND = 32_768

/** Ports that this process has given. */
const given = new Set<number>()

/**
 * A port of 127.0.0.1 that is not in use, and that this process was not given before: several are taken before the first
 * of them is listened on. A port chosen by the system could be given to an outgoing connection before the
 * test's server listens on it; the system does not choose ports of this range.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, BEYOND)
    if (given.has(port)) continue
    given.add(port)
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

const { PATH = '', NODE_COMPILE_CACHE } = process.env

/**
 * The variables that programs of tests get from the environment of the tests: PATH, and the folder with compiled code that
 * the launcher sets. A service that starts with that folder takes three quarters of the CPU time.
 */
export const PROGRAM_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH,
  ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
}
