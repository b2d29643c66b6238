import { constants, setPriority } from 'node:os'
import { buildConsole } from './build.ts'

// The service that has started this program goes first.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
const startedAt = performance.now()
try {
  if (await buildConsole())
    console.log(`built the web console in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
} catch (error) {
  console.error(`cannot build the web console: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}
