import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { endsWithParent } from '../../bin/orphans.mjs'
import { project } from './project.ts'

const root = join(import.meta.dirname, '../..')
const orphans = JSON.stringify(join(root, 'bin/orphans.mjs'))

/** Starts a process and a process group of two, and prints their pids. */
const PARENT = `
  import { spawn } from 'node:child_process'
  import { endsWithParent } from ${orphans}
  const one = endsWithParent(spawn('sleep', ['300']))
  const group = endsWithParent(spawn('sh', ['-c', 'sleep 300 & echo $!; wait'], { detached: true }))
  group.stdout.on('data', member => console.log('pids ' + [process.pid, one.pid, group.pid, Number(member)].join(' ') + '.'))
  setInterval(() => {}, 1000)
`
const pidsIn = (output: string) => /pids ([\d ]+)\./.exec(output)?.[1]?.split(' ').map(Number) ?? []

/** Whether a process is running. A zombie, which waits for its parent, is not. */
const isRunning = (pid: number) => {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** Waits for the pids in the output, calls `end`, and expects that all processes exit. */
async function expectEnd(output: () => string, end: () => void) {
  await vi.waitFor(() => expect(pidsIn(output()), output()).toHaveLength(4))
  const pids = pidsIn(output())
  onTestFinished(() => pids.filter(isRunning).forEach(pid => void process.kill(pid, 'SIGKILL')))
  expect(pids.filter(isRunning)).toEqual(pids)
  end()
  await vi.waitFor(() => expect(pids.filter(isRunning)).toEqual([]))
}

function collected(child: ReturnType<typeof spawn>) {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => (output += chunk))
  return () => output
}

describe.skipIf(process.platform === 'win32')(
  'the child processes of a process end with it',
  { meta: { skipped: 'Windows has no signals' } },
  () => {
    test.each(['SIGKILL', 'SIGTERM'] as const)('on %s', async signal => {
      const parent = endsWithParent(spawn(process.execPath, ['--input-type=module', '-e', PARENT]))
      await expectEnd(collected(parent), () => parent.kill(signal))
    })

    test('when it is the launcher', async () => {
      const tiny = project()
      tiny.write('services/standalone/src/main.ts', PARENT)
      const { child, output } = tiny.launch(['start'])
      await expectEnd(output, () => child.kill('SIGKILL'))
    })

    test('when it is the launcher of the tests', async () => {
      mkdirSync(join(root, '.cache'), { recursive: true })
      const folder = mkdtempSync(join(root, '.cache/orphans-'))
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
      writeFileSync(join(folder, 'vitest.config.ts'), "export { default } from '../../vitest.config.ts'\n")
      writeFileSync(
        join(folder, 'a.test.ts'),
        `import { test } from 'vitest'\ntest('a', async () => {${PARENT.replace(/import (.*) from (.*)/g, 'const $1 = await import($2)')}
        await new Promise(() => {})
      })`,
      )
      // turbo and npm run between the launcher and vitest, and may exit without ending their child processes.
      const launcher = endsWithParent(spawn('sleep', ['300']))
      const tests = endsWithParent(
        spawn(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), 'run'], {
          cwd: folder,
          env: { ...process.env, REPORT_FILE: 'report.json', GANTRY_LAUNCHER: String(launcher.pid) },
        }),
      )
      await expectEnd(collected(tests), () => launcher.kill('SIGKILL'))
      if (tests.exitCode === null && tests.signalCode === null) await once(tests, 'exit')
    })
  },
)
