import { availableParallelism, loadavg } from 'node:os'

/**
 * Adapts a time limit of a test to the load of the machine: multiplies it by the number of runnable processes per core, by
 * at least 1 and at most 8.
 * @param {number} ms the limit on an idle machine, in milliseconds
 * @param {{ load?: number, cores?: number }} [machine] the number of runnable processes and of cores
 */
export function scaledTimeout(ms, { load = loadavg()[0] ?? 0, cores = availableParallelism() } = {}) {
  return Math.ceil(ms * Math.min(8, Math.max(1, load / cores)))
}
