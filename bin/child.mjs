import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { createInterface } from 'node:readline'
import { endsWithParent } from './orphans.mjs'

/** @typedef {{ code: number | null, signal: NodeJS.Signals | null, interrupted: NodeJS.Signals | undefined }} Ended */

/** @type {NodeJS.Signals[]} */
const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** Ctrl-C reaches us from the terminal and once more from npm: closer together than this it is one wish to stop. */
const sameWishMs = 500

/**
 * Runs a program to its end. It gets a process group of its own, so that each SIGINT, SIGTERM or SIGHUP sent to us
 * reaches it exactly once, wherever it came from.
 * @param {string} command
 * @param {string[]} args
 * @param {object} options
 * @param {string} options.cwd
 * @param {NodeJS.ProcessEnv} options.env
 * @param {(line: string, stop: () => void) => void} [options.onLine] takes the output line by line, with a function
 *   that ends the program; without it the program has our standard streams
 * @param {number} [options.graceMs] how long after a signal it is killed, in milliseconds; without it never
 * @returns {Promise<Ended>} its exit code or the signal that ended it, and the signal that we were sent meanwhile
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

  // Before the start: a signal during it would end this process alone, and the child would go on.
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
 * The exit code that stands for how a program ended: its own, or 128 and the number of the signal that killed it.
 * @param {Ended} ended
 */
export function exitCode({ code, signal }) {
  return code ?? 128 + (signal ? constants.signals[signal] : 0)
}
