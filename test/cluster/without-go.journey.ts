import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { CACHE, findDebianNats } from '@gantry/engines'
import { ranOn } from '@gantry/engines/ran-on'
import { expect, onTestFinished, test } from 'vitest'
import { endsWithParent } from '../../bin/orphans.mjs'

const debian = await findDebianNats()
if (debian.found) ranOn(debian.description)
const skipped = debian.found ? undefined : 'the nats-server of Debian is not available here'

/** Starts the stores of a cluster and prints which they are. */
const PROGRAM = `
const { startEngines } = await import(${JSON.stringify(join(import.meta.dirname, 'src/engines.ts'))})
const engines = await startEngines({ dataFolder: process.argv[1], urls: {} })
console.log(JSON.stringify(engines.descriptions))
await engines.stop()`

test.skipIf(skipped)(
  "without Go a cluster has the NATS of Debian and read models in a SQLite file, and prefers Debian's NATS to a compilation",
  { meta: { skipped } },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gantry-without-go-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const [programs, engines] = [join(folder, 'programs'), join(folder, 'engines')]
    await Promise.all([mkdir(programs), mkdir(engines)])
    await symlink(join(CACHE, 'nats-server-debian'), join(engines, 'nats-server-debian'))
    // Go that cannot compile, and leaves a file when it is asked to.
    const compiled = join(folder, 'compiled')
    const go = (args: string) =>
      writeFile(join(programs, 'go'), `#!/bin/sh\n${args}\nexit 1\n`, { mode: 0o755 })
    const enginesHere = async () => {
      const { MESSAGING_URL: _, READ_MODEL_URL: __, EVENT_STORE_URL: ___, ...environment } = process.env
      const child = endsWithParent(
        spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, folder], {
          env: {
            ...environment,
            PATH: `${programs}:/bin`,
            ENGINES_CACHE: engines,
            DOCKER_HOST: 'tcp://127.0.0.1:1',
          },
          stdio: ['ignore', 'pipe', 'pipe'],
        }),
      )
      const said = text(child.stderr)
      const printed = await text(child.stdout)
      if (child.exitCode === null) await once(child, 'exit')
      expect(child.exitCode, await said).toBe(0)
      return Object.fromEntries(JSON.parse(printed)) as Record<string, string>
    }
    const stores = {
      'event log': expect.stringContaining('stand-in for EventStoreDB'),
      'read models': expect.stringContaining('stands in for MongoDB: one SQLite file for all processes'),
      bus: expect.stringMatching(/^real: nats-server 2\.\d+\.\d+ of Debian's package/),
      images: 'a folder, in place of GridFS',
    }
    expect(await enginesHere()).toEqual(stores)
    await go(`case "$*" in *nats-server*) echo > ${compiled} ;; esac`)
    expect(await enginesHere()).toEqual(stores)
    expect(existsSync(compiled)).toBe(false)
  },
)
