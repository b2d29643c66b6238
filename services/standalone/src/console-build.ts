import { spawn } from 'node:child_process'
import { join } from 'node:path'

const PROGRAM = join(import.meta.dirname, '../../console/src/main.ts')

/**
 * Builds the web console in a process of its own, unless it is built already. It prints what it has done. The service does
 * not depend on the result.
 */
export function startConsoleBuild(): void {
  const build = spawn(process.execPath, [PROGRAM], { stdio: ['ignore', 'inherit', 'inherit'] })
  const stop = () => build.kill()
  process.once('exit', stop)
  build.once('exit', () => process.off('exit', stop))
  build.once('error', error => console.error(`cannot build the web console: ${error.message}`))
}
