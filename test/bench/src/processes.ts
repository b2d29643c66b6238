import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort, PROGRAM_ENVIRONMENT } from '@gantry/service-runtime/testing'
import { endsWithParent } from '../../../bin/orphans.mjs'

/** Clock ticks per second of the times in /proc. */
const TICKS = 100

export interface Running {
  url: string
  stop(): Promise<void>
}

/** Runs a function with a temporary folder, which is removed afterwards. */
export async function inFolder<Result>(use: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-bench-'))
  try {
    return await use(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Starts a program of this folder that listens on PORT and answers at /. */
export async function startProgram(name: string, environment: NodeJS.ProcessEnv): Promise<Running> {
  const port = await freePort()
  const child = endsWithParent(
    spawn(process.execPath, [fileURLToPath(new URL(`./${name}.ts`, import.meta.url))], {
      env: { ...PROGRAM_ENVIRONMENT, NODE_ENV: 'production', PORT: String(port), ...environment },
      stdio: ['ignore', 'ignore', 'pipe'],
    }),
  )
  child.stderr.pipe(process.stderr, { end: false })
  const url = `http://127.0.0.1:${port}`
  while (!(await fetch(url).catch(() => undefined))?.ok) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode} before it answered`)
    await setTimeout(5)
  }
  return {
    url,
    async stop() {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}

/** Waits until a process is idle. @returns the microseconds of processor time that it has used, on Linux */
export async function restingAt(pid: number): Promise<number> {
  for (let before = -1; ; ) {
    const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /, '').split(' ')
    const used = Number(fields[11]) + Number(fields[12])
    if (used - before <= 1) return (used * 1_000_000) / TICKS
    before = used
    await setTimeout(200)
  }
}
