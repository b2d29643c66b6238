import { spawn } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { endsWithParent } from '../../../bin/orphans.mjs'

/** Folder of the installed servers, kept between runs. ENGINES_CACHE overrides it. */
export const CACHE =
  process.env.ENGINES_CACHE ?? join(import.meta.dirname, '..', '..', '..', '.cache', 'engines')

/** Path of a program in the folders of the PATH; undefined if it is not there. */
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

export const isReadable = (path: string): Promise<boolean> =>
  access(path, constants.R_OK).then(
    () => true,
    () => false,
  )

interface RunOptions {
  cwd?: string
  env?: Record<string, string>
  timeoutMs: number
  /** Description of the work, printed at the start and every ten seconds. */
  doing?: string
}

const SAY_MS = 10_000

/** Runs a program to its end. @returns its output @throws Error with its output when it fails or exceeds `timeoutMs` */
export async function run(command: string, args: readonly string[], options: RunOptions): Promise<string> {
  const { cwd, env, timeoutMs, doing } = options
  const startedAt = performance.now()
  const seconds = () => Math.round((performance.now() - startedAt) / 1000)
  const say = (words: string) => doing && process.stderr.write(`${doing}${words}\n`)
  say('')
  const saying = setInterval(() => say(`: ${seconds()} s, of ${timeoutMs / 1000} at most`), SAY_MS)
  try {
    return await new Promise<string>((resolve, reject) => {
      // Its own process group, so that its child processes end with it.
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
