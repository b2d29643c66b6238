import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { containersRun } from './src/container.ts'
import { findDebianNats } from './src/find-nats.ts'
import { CACHE } from './src/program.ts'

const debian = await findDebianNats()
const skipped = (await containersRun())
  ? 'NATS runs in a container here'
  : debian.found
    ? undefined
    : 'the nats-server of Debian is not available here'

test.skipIf(skipped)(
  "with `soon`, NATS is not compiled when Debian's package is available",
  {
    meta: { skipped },
  },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gantry-soon-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const [programs, engines] = [join(folder, 'programs'), join(folder, 'engines')]
    await Promise.all([mkdir(programs), mkdir(engines)])
    await symlink(join(CACHE, 'nats-server-debian'), join(engines, 'nats-server-debian'))
    await writeFile(join(programs, 'go'), `#!/bin/sh\necho > ${folder}/compiled\nexit 1\n`, { mode: 0o755 })
    vi.stubEnv('PATH', programs)
    vi.stubEnv('MESSAGING_URL', undefined)
    vi.stubEnv('ENGINES_CACHE', engines)
    onTestFinished(() => void vi.unstubAllEnvs())
    vi.resetModules()
    const { findNats } = await import('./src/find-nats.ts')

    expect(await findNats({ soon: true })).toMatchObject({
      description: expect.stringContaining('of Debian'),
    })
    expect(existsSync(join(folder, 'compiled'))).toBe(false)
    await findNats()
    expect(existsSync(join(folder, 'compiled'))).toBe(true)
  },
)
