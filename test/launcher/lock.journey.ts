import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

test('a holder finishes its work after its lock was taken over and released by another process', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-lock-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const program = `
    import { rmSync } from 'node:fs'
    import { setTimeout } from 'node:timers/promises'
    import { exclusively } from ${JSON.stringify(join(import.meta.dirname, '../../bin/lock.mjs'))}
    const [file] = process.argv.slice(1)
    const work = async () => {
      rmSync(file)
      // The holder touches its file every second.
      await setTimeout(1_500)
    }
    await exclusively(file, work, () => {})
    console.log('finished')`
  const args = ['--input-type=module', '--eval', program, join(folder, 'lock')]
  expect((await promisify(execFile)(process.execPath, args)).stdout).toBe('finished\n')
})
