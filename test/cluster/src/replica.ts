import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { endsWithParent } from '../../../bin/orphans.mjs'

type State = 'starting' | 'ready' | 'restarting' | 'stopped'

/** One process of the cluster, which is restarted when it exits. */
export interface Replica {
  name: string
  port: number
  /** Port of /metrics and of internal requests; undefined for a gateway that serves /metrics on its port. */
  internalPort: number | undefined
  pid(): number | undefined
  state(): State
  /** Why the process is not ready, as reported by its health endpoint. */
  waitsFor(): string
  /** Resolves when the process is ready for the first time. @throws Error with its output when it exits before */
  ready: Promise<void>
  /** Sends SIGTERM, and SIGKILL after a timeout. */
  stop(): Promise<void>
}

/** A program of Node. */
interface Program {
  /** Arguments of Node. */
  args: readonly string[]
  /** Folder in which it runs. */
  cwd: string
}

export interface ReplicaOptions {
  /** Name of the replica, e.g. catalog-1. */
  name: string
  program: Program
  port: number
  environment: NodeJS.ProcessEnv
  healthUrl: string
  logFolder: string
  /** Maximum pause before a restart, in milliseconds. Default: 5,000. */
  longestPauseMs?: number
  /** Called with a line when the state of the process changes. */
  say(line: string): void
}

const POLL_MS = 100
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 5_000
/** After this running time the pause before the next restart is the shortest again. */
const LIVED_MS = 10_000
const STOP_MS = 30_000

export function startReplica(options: ReplicaOptions): Replica {
  const {
    name,
    program,
    port,
    environment,
    healthUrl,
    logFolder,
    say,
    longestPauseMs = LONGEST_PAUSE_MS,
  } = options
  const ready = Promise.withResolvers<void>()
  const stopping = new AbortController()
  let child: ChildProcess
  let state: State = 'starting'
  let wasReady = false
  let waitsFor = 'has not answered yet'

  const run = async () => {
    const log = join(logFolder, `${name}.log`)
    const file = openSync(log, 'a')
    // Its own process group, so that signals of the terminal reach the process only through the cluster.
    child = endsWithParent(
      spawn(process.execPath, program.args, {
        cwd: program.cwd,
        env: environment,
        detached: process.platform !== 'win32',
        stdio: ['ignore', file, 'pipe'],
      }),
    )
    closeSync(file)
    const complaints: string[] = []
    child.stderr?.on('data', chunk => {
      complaints.push(String(chunk))
      appendFileSync(log, chunk)
    })
    const ended = once(child, 'close')
    const alive = new AbortController()
    becomesReady(alive.signal)
    const [code, signal] = await ended
    alive.abort()
    return { code, signal, said: complaints.join('').trim() }
  }

  const becomesReady = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      const unready = await whyUnready(healthUrl)
      waitsFor = unready ?? ''
      if (unready === undefined) {
        if (signal.aborted) return
        if (state === 'restarting') say(`${name} is ready again (pid ${child.pid})`)
        state = 'ready'
        wasReady = true
        ready.resolve()
        return
      }
      await setTimeout(POLL_MS)
    }
  }

  const keepRunning = async () => {
    let pause = FIRST_PAUSE_MS
    while (!stopping.signal.aborted) {
      const startedAt = performance.now()
      const { code, signal, said } = await run()
      if (stopping.signal.aborted) break
      if (!wasReady) {
        state = 'stopped'
        ready.reject(new Error(`${name} ended with ${signal ?? code}: ${said || `see ${name}.log`}`))
        return
      }
      if (performance.now() - startedAt > LIVED_MS) pause = FIRST_PAUSE_MS
      state = 'restarting'
      say(`${name} ended with ${signal ?? code}${said ? ` (${said})` : ''}, and is started again`)
      await setTimeout(pause, undefined, { signal: stopping.signal }).catch(() => {})
      pause = Math.min(pause * 2, longestPauseMs)
    }
    state = 'stopped'
  }
  const running = keepRunning()

  return {
    name,
    port,
    internalPort: portIn(environment.INTERNAL_PORT ?? environment.METRICS_PORT),
    pid: () => child.pid,
    state: () => state,
    waitsFor: () => waitsFor,
    ready: ready.promise,
    async stop() {
      stopping.abort()
      child.kill('SIGTERM')
      const late = globalThis.setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      await running
      clearTimeout(late)
    },
  }
}

const portIn = (text: string | undefined) => (text ? Number(text) : undefined)

/** What a process waits for, as it reports it if available; undefined once it is ready. */
async function whyUnready(url: string): Promise<string | undefined> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) })
    const body = await answer.text()
    if (answer.ok) return undefined
    return (JSON.parse(body) as { detail?: string }).detail ?? `answers ${answer.status}`
  } catch {
    return 'does not answer yet'
  }
}
