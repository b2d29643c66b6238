import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '@gantry/service-runtime/testing'
import { endsWithParent } from '../../../bin/orphans.mjs'
import type { Engine, StartOptions } from './engine.ts'

interface ServerOptions {
  /** Path of the program. */
  command: string
  /** Arguments that make it listen on a port of 127.0.0.1 and keep its data in a folder. */
  args(port: number, folder: string): string[]
  url(port: number): string
  /** Matches the line that the server prints, on stdout or stderr, when it is ready; or tells whether it is ready. */
  ready: Ready
  /** Makes files in its folder before its first start. */
  prepare?(folder: string): Promise<void>
  /** Default: a free port, or the one that the server of the folder had before. */
  port?: number
}

type Ready = RegExp | ((port: number) => Promise<boolean>)

/** Only a server that hangs reaches it. */
const READY_MS = 120_000
const POLL_MS = 50
const STOP_MS = 10_000

/**
 * Starts a server process on a free port, with the data in `folder` or with an empty temporary folder that is removed on
 * stop.
 * @throws Error with the output of the server when it does not become ready
 */
export async function startServer(
  { command, args, url, ready, prepare, port: wanted }: ServerOptions,
  { folder: kept }: Pick<StartOptions, 'folder'> = {},
): Promise<Engine> {
  const folder = kept ?? (await mkdtemp(join(tmpdir(), 'gantry-engine-')))
  const port = wanted ?? (kept ? await portOf(kept) : await freePort())
  await prepare?.(folder)
  const start = () => started(command, args(port, folder), ready, port)
  let child = await start()

  return {
    url: url(port),
    async stop() {
      await ended(child)
      if (!kept) await rm(folder, { recursive: true, force: true })
    },
    faults: {
      async kill() {
        const exited = once(child, 'exit')
        child.kill('SIGKILL')
        await exited
      },
      async restart() {
        child = await start()
      },
      async pause() {
        child.kill('SIGSTOP')
        await stopped(child.pid)
      },
      async resume() {
        child.kill('SIGCONT')
      },
    },
  }
}

/** Waits until every thread is stopped: on a busy machine a thread may still answer after SIGSTOP was sent. */
async function stopped(pid = 0): Promise<void> {
  if (process.platform !== 'linux') return
  for (;;) {
    const threads = await readdir(`/proc/${pid}/task`)
    const stats = await Promise.all(threads.map(id => readFile(`/proc/${pid}/task/${id}/stat`, 'utf8')))
    // The state follows the name, which is in parentheses (proc_pid_stat(5)).
    if (stats.every(stat => stat.slice(stat.lastIndexOf(')')).startsWith(') T'))) return
    await pause(5)
  }
}

/** The port that the server of this data had before: a replica set identifies its members by address. */
async function portOf(folder: string): Promise<number> {
  await mkdir(folder, { recursive: true })
  const file = `${folder}.port`
  const known = await readFile(file, 'utf8').catch(() => undefined)
  if (known) return Number(known)
  const port = await freePort()
  await writeFile(file, String(port))
  return port
}

async function started(
  command: string,
  args: readonly string[],
  ready: Ready,
  port: number,
): Promise<ChildProcess> {
  // Its own process group, so that a signal of the terminal does not stop it before the processes that use it.
  const child = endsWithParent(
    spawn(command, args, {
      detached: process.platform !== 'win32',
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  const printed: string[] = []
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const refuse = (why: string) => reject(new Error(`${command} ${why}\n${printed.join('\n')}`))
  const late = setTimeout(() => {
    child.kill('SIGKILL')
    refuse(`was not ready in ${READY_MS / 1000} s`)
  }, READY_MS)
  for (const output of [child.stdout, child.stderr]) {
    createInterface({ input: output }).on('line', line => {
      if (printed.length < 100) printed.push(line)
      if (ready instanceof RegExp && ready.test(line)) resolve()
    })
  }
  child.once('error', reject)
  child.once('exit', code => refuse(`exited with ${code}`))
  const polling = new AbortController()
  if (ready instanceof Function) void becomesTrue(() => ready(port), polling.signal).then(resolve, reject)
  await promise.finally(() => {
    clearTimeout(late)
    polling.abort()
  })
  return child
}

async function becomesTrue(condition: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !(await condition())) await pause(POLL_MS)
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGCONT')
  child.kill('SIGTERM')
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await exited
  clearTimeout(late)
}
