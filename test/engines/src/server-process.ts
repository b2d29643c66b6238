import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from '@gantry/service-kit/testing'
import { endsWithParent } from '../../../bin/orphans.mjs'
import { patient } from '../../../bin/patience.mjs'
import type { Engine, StartOptions } from './engine.ts'

interface ServerOptions {
  /** The program. */
  command: string
  /** Its arguments, to listen on a port of 127.0.0.1 and keep its data in a folder. */
  args(port: number, folder: string): string[]
  url(port: number): string
  /** What it prints, to either output, when it can be used. */
  ready: RegExp
}

const READY_MS = patient(30_000)
const STOP_MS = 10_000

/**
 * Starts a server as a process, on a free port and on the data of the folder, or on none, which end with it.
 * @throws with what it printed
 */
export async function startServer(
  { command, args, url, ready }: ServerOptions,
  { folder: kept }: Pick<StartOptions, 'folder'> = {},
): Promise<Engine> {
  const folder = kept ?? (await mkdtemp(join(tmpdir(), 'gantry-engine-')))
  const port = kept ? await portOf(kept) : await freePort()
  const start = () => started(command, args(port, folder), ready)
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
      },
      async resume() {
        child.kill('SIGCONT')
      },
    },
  }
}

/** The port that the server of this data has always had: a replica set knows its members by theirs. */
async function portOf(folder: string): Promise<number> {
  await mkdir(folder, { recursive: true })
  const file = `${folder}.port`
  const known = await readFile(file, 'utf8').catch(() => undefined)
  if (known) return Number(known)
  const port = await freePort()
  await writeFile(file, String(port))
  return port
}

async function started(command: string, args: readonly string[], ready: RegExp): Promise<ChildProcess> {
  // A group of its own: what a terminal sends to whoever needs it does not end it before them.
  const child = endsWithParent(
    spawn(command, args, {
      detached: process.platform !== 'win32',
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  const printed: string[] = []
  await new Promise<void>((resolve, reject) => {
    const refuse = (why: string) => reject(new Error(`${command} ${why}\n${printed.join('\n')}`))
    const late = setTimeout(() => {
      child.kill('SIGKILL')
      refuse(`was not ready in ${READY_MS / 1000} s`)
    }, READY_MS)
    for (const output of [child.stdout, child.stderr]) {
      createInterface({ input: output }).on('line', line => {
        if (printed.length < 100) printed.push(line)
        if (!ready.test(line)) return
        clearTimeout(late)
        resolve()
      })
    }
    child.once('error', reject)
    child.once('exit', code => {
      clearTimeout(late)
      refuse(`exited with ${code}`)
    })
  })
  return child
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
