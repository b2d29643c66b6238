import { availableParallelism, loadavg } from 'node:os'

const MOST = 8

/**
 * A time limit of a test, on this machine as it is now: unchanged while no more processes want to run than there are
 * cores, otherwise as many times longer as there are too many, at most 8 times.
 * @param {number} ms on a quiet machine
 * @param {{ load?: number, cores?: number }} [machine] how many processes want to run, on how many cores
 * @returns {number} milliseconds
 */
export function patient(ms, { load = loadavg()[0] ?? 0, cores = availableParallelism() } = {}) {
  return Math.ceil(ms * Math.min(MOST, Math.max(1, load / cores)))
}
