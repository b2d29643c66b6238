// The processor time of child processes, in units that hardly depend on the machine.
import { readFileSync } from 'node:fs'

const EVERY_MS = 5_000
const TEXT = JSON.stringify(
  Array.from({ length: 4_000 }, (_, index) => ({ index, name: `name ${index}`, tags: ['a', 'b'] })),
)

/**
 * Starts to measure. A loop that runs every five seconds beside the children is the unit, so that a slow or busy machine
 * measures about what another does.
 * @returns a function that ends the measurement: the processor time of the children that have ended since, in seconds and in
 *   loops; undefined where the system does not tell
 */
export function measureEffort() {
  const before = childSeconds()
  const loops = [loopSeconds()]
  const timer = setInterval(() => loops.push(loopSeconds()), EVERY_MS).unref()
  return () => {
    clearInterval(timer)
    const after = childSeconds()
    if (before === undefined || after === undefined) return undefined
    const unit = /** @type {number} */ (loops.sort((a, b) => a - b)[loops.length >> 1])
    return { seconds: after - before, loops: (after - before) / unit }
  }
}

/** The processor time of one loop, in seconds. */
function loopSeconds() {
  const start = process.cpuUsage()
  for (let round = 0; round < 10; round++) JSON.stringify(JSON.parse(TEXT))
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1_000_000
}

/** The processor time of all children that have ended, and of theirs; in seconds. Source: proc(5), cutime and cstime. */
function childSeconds() {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? []
    return (Number(fields[13]) + Number(fields[14])) / 100
  } catch {
    return undefined
  }
}
