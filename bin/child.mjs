import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { createInterface } from 'node:readline'
import { endsWithParent } from './orphans.mjs'

/** @typedef {{ code: number | null, signal: NodeJS.Signals | null, interrupted: NodeJS.Signals | undefined }} Ended */

/** @type {NodeJS.Signals[]} */
const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** The terminal and npm each send a signal for one Ctrl-C: equal signals within this time count as one. */
const sameWishMs = 500

/**
 * Runs a program to its end. The program has its own process group, so that it receives each SIGINT, SIGTERM or SIGHUP
 * of this process exactly once, from wherever it was sent.
 * @param {string} command
 * @param {string[]} args
 * @param {object} options
 * @param {string} options.cwd
 * @param {NodeJS.ProcessEnv} options.env
 * @param {(line: string, stop: () => void) => void} [options.onLine] called with each line of the output and a function
 *   that kills the program; without it the program inherits the standard streams
 * @param {number} [options.graceMs] time after a signal until the program is killed, in milliseconds. Default: never
 * @returns {Promise<Ended>} its exit code or the signal that ended it, and the last signal that this process received
 * @throws the error of spawn, ENOENT when there is no such program
 */
export function runChild(command, args, { cwd, env, onLine, graceMs }) {
  const ownGroup = process.platform !== 'win32'
  /** @param {NodeJS.Signals} signal */
  const send = signal => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    if (ownGroup) process.kill(-child.pid, signal)
    else child.kill(signal)
  }

  /** @type {NodeJS.Signals | undefined} */
  let interrupted
  /** @type {NodeJS.Timeout | undefined} */
  let grace
  let lastSignal = ''
  let lastAt = Number.NEGATIVE_INFINITY
  /** @param {NodeJS.Signals} signal */
  const forward = signal => {
    const now = performance.now()
    if (signal === lastSignal && now - lastAt < sameWishMs) return
    lastSignal = signal
    lastAt = now
    interrupted = signal
    send(signal)
    if (graceMs !== undefined) grace ??= setTimeout(send, graceMs, 'SIGKILL')
  }

  // Registered before the start: a signal during the start would end this process and leave the child running.
  for (const signal of forwarded) process.on(signal, forward)
  const child = spawn(command, args, {
    cwd,
    env,
    detached: ownGroup,
    stdio: onLine ? ['ignore', 'pipe', 'pipe'] : 'inherit',
  })
  endsWithParent(child)

  if (onLine) {
    for (const output of [child.stdout, child.stderr]) {
      if (output) createInterface({ input: output }).on('line', line => onLine(line, () => send('SIGKILL')))
    }
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal, interrupted }))
  }).finally(() => {
    clearTimeout(grace)
    for (const signal of forwarded) process.off(signal, forward)
  })
}

/**
 * The exit code for the end of a program: its own, or 128 plus the number of the signal that killed it.
 * @param {Ended} ended
 */
export function exitCode({ code, signal }) {
  return code ?? 128 + (signal ? constants.signals[signal] : 0)
}
