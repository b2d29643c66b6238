import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const beatMs = 1_000
const lookMs = 250

/**
 * Runs `work` while no other process runs work with the same lock file. The holder touches the file every second. A
 * waiter that sees it untouched for `deadAfterMs` assumes that the holder was killed, and takes it over. This compares
 * neither clocks nor process ids, which would be misleading between containers that share the folder.
 * @template T
 * @param {string} file the lock file, which exists during the work; its folder is created if needed
 * @param {() => Promise<T>} work
 * @param {object} [options]
 * @param {() => void} [options.onWait] called once if another process holds the lock
 * @param {number} [options.deadAfterMs] in milliseconds. Default: 5000
 * @returns {Promise<T>} the result of `work`
 */
export async function exclusively(file, work, { onWait = () => {}, deadAfterMs = 5_000 } = {}) {
  const token = `${process.pid} ${performance.timeOrigin}`
  mkdirSync(dirname(file), { recursive: true })
  if (!take(file, token)) {
    onWait()
    await takeWhenFree(file, token, deadAfterMs)
  }
  const beat = setInterval(() => utimesSync(file, new Date(), new Date()), beatMs)
  try {
    return await work()
  } finally {
    clearInterval(beat)
    if (read(file)?.token === token) rmSync(file, { force: true })
  }
}

/**
 * @param {string} file
 * @param {string} token
 */
function take(file, token) {
  try {
    writeFileSync(file, token, { flag: 'wx' })
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    return false
  }
}

/**
 * @param {string} file
 * @param {string} token
 * @param {number} deadAfterMs
 */
async function takeWhenFree(file, token, deadAfterMs) {
  let seen = ''
  let since = performance.now()
  for (;;) {
    const holder = read(file)
    const signs = holder ? `${holder.token} ${holder.touched}` : ''
    if (signs !== seen) {
      seen = signs
      since = performance.now()
    }
    const dead = holder !== undefined && performance.now() - since >= deadAfterMs
    if (dead) rmSync(file, { force: true })
    if ((dead || !holder) && take(file, token)) {
      // Another waiter with the same conclusion may have removed the new file right after its creation: check again.
      await pause(lookMs)
      if (read(file)?.token === token) return
    }
    await pause(lookMs)
  }
}

/** @param {string} file */
function read(file) {
  try {
    return { token: readFileSync(file, 'utf8'), touched: statSync(file).mtimeMs }
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    return undefined
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return /** @type {NodeJS.ErrnoException} */ (error).code
}
