import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout } from 'node:timers/promises'

const HEARTBEAT_MS = 1_000
const POLL_MS = 250
const ABANDONED_MS = 5_000

/**
 * Runs `work` while no other process runs work with the same lock file. The holder touches the file every second. A waiter
 * that sees it untouched for five seconds assumes that the holder was killed, and takes it over. This compares neither
 * clocks nor process ids, which would be misleading between containers that share the folder.
 * @param {string} file the lock file, which exists during the work; its folder is created if needed
 * @param {() => Promise<void>} work
 * @param {() => void} onWait called once if another process holds the lock
 */
export async function exclusively(file, work, onWait) {
  const token = `${process.pid} ${performance.timeOrigin}`
  mkdirSync(dirname(file), { recursive: true })
  if (!create(file, token)) {
    onWait()
    await createWhenFree(file, token)
  }
  // Another process may have taken the lock over while this one was stopped, and have released it.
  const touch = () => unless('ENOENT', () => utimesSync(file, new Date(), new Date()))
  const heartbeat = setInterval(touch, HEARTBEAT_MS)
  await work().finally(() => {
    clearInterval(heartbeat)
    if (stateOf(file).startsWith(token)) rmSync(file)
  })
}

/** @type {(file: string, token: string) => Promise<void>} */
async function createWhenFree(file, token) {
  for (let seen = '', since = 0; ; await setTimeout(POLL_MS)) {
    const state = stateOf(file)
    if (state !== seen) [seen, since] = [state, performance.now()]
    else if (state && performance.now() - since >= ABANDONED_MS) rmSync(file, { force: true })
    if (!create(file, token)) continue
    // Another waiter with the same conclusion may have removed the new file right after its creation: check again.
    await setTimeout(POLL_MS)
    if (stateOf(file).startsWith(token)) return
  }
}

/** @type {(file: string, token: string) => boolean} */
const create = (file, token) =>
  unless('EEXIST', () => writeFileSync(file, token, { flag: 'wx' }) ?? true) ?? false

/** The token of the holder and the time of its last heartbeat; empty without a holder. @param {string} file */
const stateOf = file =>
  unless('ENOENT', () => `${readFileSync(file, 'utf8')} ${statSync(file).mtimeMs}`) ?? ''

/** @type {<T>(code: string, action: () => T) => T | undefined} */
function unless(code, action) {
  try {
    return action()
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== code) throw error
  }
}
