import { availableParallelism, loadavg } from 'node:os'

const MOST = 8

/**
 * Adapts a time limit of a test to the current load of the machine: multiplies it by the number of runnable processes per
 * core, by at least 1 and at most 8.
 * @param {number} ms the limit on an idle machine, in milliseconds
 * @param {{ load?: number, cores?: number }} [machine] the number of runnable processes and of cores
 * @returns {number} in milliseconds
 */
export function patient(ms, { load = loadavg()[0] ?? 0, cores = availableParallelism() } = {}) {
  return Math.ceil(ms * Math.min(MOST, Math.max(1, load / cores)))
}
