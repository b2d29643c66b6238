import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { findNats } from '@gantry/engines'
import { freePort } from '@gantry/service-kit/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { endsWithParent } from '../../bin/orphans.mjs'
import { scaledTimeout } from '../../bin/timeouts.mjs'

const MAIN = join(import.meta.dirname, 'src/main.ts')
const STOP_MS = scaledTimeout(20_000)
const found = await findNats()

/** Starts `npm run cluster` in a new folder. */
async function clusterWith(settings: NodeJS.ProcessEnv) {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-stop-'))
  const environment = { ...process.env, DATA_DIR: folder, PORT: String(await freePort()), ...settings }
  const child = endsWithParent(
    spawn(process.execPath, [MAIN, '--replicas', '1'], { cwd: folder, env: environment }),
  )
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (said += chunk))
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  })
  return {
    said: () => said,
    says: (words: RegExp) =>
      vi.waitFor(() => expect(said).toMatch(words), { timeout: scaledTimeout(60_000), interval: 50 }),
    async stop() {
      const ended = once(child, 'exit', { signal: AbortSignal.timeout(STOP_MS) })
      child.kill('SIGTERM')
      return (await ended)[0]
    },
  }
}

test.skipIf(!found.found || found.kind === 'url')(
  'a cluster with a wrong password prints what each process waits for, and can be stopped',
  { timeout: scaledTimeout(120_000), meta: { skipped: 'needs a NATS that the tests start' } },
  async () => {
    if (!found.found) throw new Error('unreachable')
    const nats = await found.start({ args: ['--user', 'gantry', '--pass', 'right'] })
    onTestFinished(() => nats.stop())
    const cluster = await clusterWith({
      MESSAGING_URL: nats.url.replace('//', '//gantry:wrong@'),
      EVENT_STORE_URL: 'sqlite:events.db',
      READ_MODEL_URL: 'sqlite:read-models.db',
    })
    await cluster.says(/gateway +not ready: .+\n/)
    await cluster.says(/catalog-1 +not ready: .+\n/)
    expect(cluster.said()).not.toContain('wrong@')
    expect(await cluster.stop(), cluster.said()).toBe(0)
    expect(cluster.said()).toContain('All processes have ended')
  },
)

test(
  'a cluster can be stopped while its stores are compiled, and the compiler ends',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gantry-slow-go-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
    await mkdir(join(folder, 'bin'))
    // A compiler that never exits. It starts a process that never exits either and writes a line every 100 ms.
    const go = `#!/bin/sh\nwhile true; do echo >> ${folder}/beats; sleep 0.1; done &\nwait\n`
    const beats = () => readFile(join(folder, 'beats'), 'utf8')
    await writeFile(join(folder, 'bin/go'), go, { mode: 0o755 })
    const cluster = await clusterWith({
      PATH: [join(folder, 'bin'), dirname(process.execPath), '/bin'].join(':'),
      ENGINES_CACHE: join(folder, 'engines'),
      MESSAGING_URL: 'sqlite:messages.db',
      EVENT_STORE_URL: 'sqlite:events.db',
    })
    await cluster.says(/downloading ferretdb .* with Go, once/)
    await vi.waitFor(beats, { timeout: scaledTimeout(20_000) })
    expect(await cluster.stop(), cluster.said()).toBe(0)
    await vi.waitFor(
      async () => {
        const before = await beats()
        await setTimeout(500)
        expect(await beats()).toBe(before)
      },
      { timeout: scaledTimeout(20_000) },
    )
  },
  scaledTimeout(60_000),
)
