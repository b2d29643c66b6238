import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Ports below the range for outgoing connections (from 32768 on Linux, from 49152 elsewhere). */
const LOWEST = 10_240
const BEYOND = 32_768

/** Folder with an empty file for each port that a process of this user has taken. */
const TAKEN = join(tmpdir(), `gantry-ports-${process.getuid?.() ?? ''}`)
/** By then a server listens on the port, or nobody needs it any more. */
const TAKEN_MS = 600_000

/**
 * A port of 127.0.0.1 that is not in use, and that no process of a test was given in the last minutes: several are taken
 * before the first of them is listened on, and a service that finds its port in use would be mistaken for the other one. A
 * port chosen by the system could be given to an outgoing connection before the test's server listens on it; the system does
 * not choose ports of this range.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, BEYOND)
    if (take(port) && (await isFree(port))) return port
  }
}

/** Takes a port for this process. @returns false if another one has it */
function take(port: number): boolean {
  const file = join(TAKEN, String(port))
  mkdirSync(TAKEN, { recursive: true })
  const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
  if (age > TAKEN_MS) rmSync(file, { force: true })
  try {
    writeFileSync(file, '', { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
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
