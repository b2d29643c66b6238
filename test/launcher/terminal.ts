import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { endsWithParent } from '../../bin/orphans.mjs'

export const ROOT = join(import.meta.dirname, '../..')
/** A terminal without output for this time has failed. On a busy machine the demo takes minutes. */
const silentMs = 180_000

/** A shell that runs blocks of commands in order, and collects the output of all its programs. */
export function terminal(env: NodeJS.ProcessEnv) {
  const shell = endsWithParent(
    spawn('sh', [], { cwd: ROOT, env: { ...process.env, ...env }, detached: true }),
  )
  let output = ''
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', chunk => (output += chunk))
  onTestFinished(() => endAll(shell))
  let blocks = 0
  const type = (block: string) => void shell.stdin.write(block)
  /** Waits for a match in the output after a position. */
  const until = async (pattern: RegExp, from = 0): Promise<RegExpExecArray> => {
    for (let seen = -1, since = 0; ; await pause(50)) {
      const found = pattern.exec(output.slice(from))
      if (found) return found
      if (output.length !== seen) [seen, since] = [output.length, performance.now()]
      if (performance.now() - since > silentMs)
        throw new Error(`no match for ${pattern} in the output: ${output.slice(from)}`)
    }
  }
  /** Runs a block to its end. @returns the output of the block */
  const run = async (block: string): Promise<string> => {
    const from = output.length
    const end = `--- block ${blocks++} ended`
    type(`${block}echo '${end}'\n`)
    await until(new RegExp(`${end}\n`), from)
    return output.slice(from).split(end)[0] ?? ''
  }
  /** Sends SIGINT to all its programs, as Ctrl-C does. */
  const interrupt = () => process.kill(-(shell.pid ?? 0), 'SIGINT')
  return { type, until, run, interrupt }
}

/** Stops a shell and the processes of its group. */
async function endAll(shell: ChildProcess): Promise<void> {
  const closed = shell.exitCode === null && shell.signalCode === null ? once(shell, 'close') : undefined
  try {
    process.kill(-(shell.pid ?? 0), 'SIGTERM')
  } catch {
    // The shell has exited already.
  }
  await closed
}
