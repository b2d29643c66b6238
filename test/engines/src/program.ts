import { spawn } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { endsWithParent } from '../../../bin/orphans.mjs'

/** Folder of the engines that were installed for this repository, kept from run to run; ENGINES_CACHE names another. */
export const CACHE =
  process.env.ENGINES_CACHE ?? join(import.meta.dirname, '..', '..', '..', '.cache', 'engines')

/** Where a program of that name is, by the PATH; undefined when it is not there. */
export async function onPath(name: string): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, name)
    if (folder && (await isThere(path))) return path
  }
  return undefined
}

export const isThere = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  )

interface RunOptions {
  cwd?: string
  env?: Record<string, string>
  timeoutMs: number
  /** What it does, for those who wait; said every so often. */
  doing?: string
}

const SAY_MS = 10_000

/** Runs a program to its end. @returns what it printed @throws with that when it fails or takes too long */
export async function run(command: string, args: readonly string[], options: RunOptions): Promise<string> {
  const { cwd, env, timeoutMs, doing } = options
  const startedAt = performance.now()
  const seconds = () => Math.round((performance.now() - startedAt) / 1000)
  const say = (words: string) => doing && process.stderr.write(`${doing}${words}\n`)
  say('')
  const saying = setInterval(() => say(`: ${seconds()} s, of ${timeoutMs / 1000} at most`), SAY_MS)
  try {
    return await new Promise<string>((resolve, reject) => {
      // A group of its own, so that what it starts ends with it.
      const ownGroup = process.platform !== 'win32'
      const child = endsWithParent(
        spawn(command, args, {
          cwd,
          env: { ...process.env, ...env },
          stdio: ['ignore', 'pipe', 'pipe'],
          detached: ownGroup,
        }),
      )
      let late = false
      const limit = setTimeout(() => {
        late = true
        if (ownGroup && child.pid) process.kill(-child.pid, 'SIGKILL')
        else child.kill('SIGKILL')
      }, timeoutMs)
      let printed = ''
      for (const output of [child.stdout, child.stderr]) output.on('data', chunk => (printed += chunk))
      child.once('error', reject)
      child.once('close', (code, signal) => {
        clearTimeout(limit)
        if (code === 0) return resolve(printed)
        const end = late ? `was stopped after ${timeoutMs / 1000} s` : (signal ?? `exit ${code}`)
        reject(new Error(`${command} ${args[0]}: ${end}\n${printed.slice(-2000)}`))
      })
    })
  } finally {
    clearInterval(saying)
  }
}
