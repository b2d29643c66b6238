import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { PROGRAM_ENVIRONMENT } from '@gantry/service-runtime/testing'
import { endsWithParent } from '../../../bin/orphans.mjs'
import { service } from './gantry.ts'

const MAIN = fileURLToPath(new URL('../../../services/operations/src/main.ts', import.meta.url))

export interface Command {
  child: ChildProcess
  stdout: () => string
  stderr: () => string
  /** Resolves to the exit code, or the name of the signal that killed the process. */
  ended: Promise<number | string | null>
}

/** Starts a command of operators or audit consumers against the service under test. */
export const startCommand = (args: string[], environment: Record<string, string>): Command => {
  const child = endsWithParent(
    spawn(process.execPath, [MAIN, ...args], {
      env: { ...PROGRAM_ENVIRONMENT, BASE_URL: service.baseUrl, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', text => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', text => (stderr += text))
  const ended = once(child, 'close').then(([code, signal]) => signal ?? code)
  return { child, stdout: () => stdout, stderr: () => stderr, ended }
}

/** Runs a command to its end. */
export const runCommand = async (args: string[], environment: Record<string, string>) => {
  const { ended, stdout, stderr } = startCommand(args, environment)
  return { code: await ended, stdout: stdout(), stderr: stderr() }
}
