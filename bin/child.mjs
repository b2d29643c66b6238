import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { endsWithParent } from './orphans.mjs'

/** @type {NodeJS.Signals[]} */
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP']
/** The terminal and npm each send a signal for one Ctrl-C: equal signals within this time count as one. */
const SAME_SIGNAL_MS = 500

/**
 * Runs a program to its end. The program has its own process group, so that it receives each SIGINT, SIGTERM or SIGHUP
 * of this process exactly once, from wherever it was sent.
 * @param {string[]} command the program and its arguments
 * @param {import('node:child_process').SpawnOptions & { killAfterMs?: number }} options `killAfterMs` after a signal, the
 *   program is killed. By default it is never killed, and inherits the standard streams.
 * @returns its exit code, or 128 plus the number of the signal that ended it; and the last signal that this process received
 * @throws the error of spawn, ENOENT when there is no such program
 */
export async function runChild([file = '', ...args], { killAfterMs, ...options }) {
  const detached = process.platform !== 'win32'
  /** @type {{ signal?: NodeJS.Signals, at: number, timer?: NodeJS.Timeout }} */
  const received = { at: 0 }
  const send = (/** @type {NodeJS.Signals} */ signal) => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    if (detached) process.kill(-child.pid, signal)
    else child.kill(signal)
  }
  const forward = (/** @type {NodeJS.Signals} */ signal) => {
    const at = performance.now()
    if (signal === received.signal && at - received.at < SAME_SIGNAL_MS) return
    Object.assign(received, { signal, at })
    send(signal)
    if (killAfterMs !== undefined) received.timer ??= setTimeout(send, killAfterMs, 'SIGKILL')
  }

  // Registered before the start: a signal during the start would end this process and leave the child running.
  for (const signal of FORWARDED) process.on(signal, forward)
  const child = endsWithParent(spawn(file, args, { stdio: 'inherit', detached, ...options }))
  try {
    const [code, signal] = await once(child, 'close')
    return { code: code ?? exitCodeOf(signal), signal: received.signal }
  } finally {
    clearTimeout(received.timer)
    for (const signal of FORWARDED) process.off(signal, forward)
  }
}

/** The exit code of a process that a signal has ended. @param {NodeJS.Signals} signal */
export const exitCodeOf = signal => 128 + constants.signals[signal]
