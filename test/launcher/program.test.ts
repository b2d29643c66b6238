import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { linkRuntime } from '../../bin/runtime.mjs'
import { project } from './project.ts'

/** A tiny project whose service is `source`; nothing has to be fetched for it. */
function service(source: string) {
  const tiny = project()
  tiny.write('services/standalone/src/main.ts', source)
  tiny.write('services/catalog/src/main.ts', "console.log('catalog with', process.argv.slice(2).join(' '))\n")
  return tiny
}

describe('the program that is run', () => {
  test('gives the launcher its exit code', async () => {
    expect(await service('process.exit(3)').launch(['start']).ended).toBe(3)
  })

  test('killed by a signal gives 128 and the number of the signal', async () => {
    expect(await service("process.kill(process.pid, 'SIGKILL')").launch(['start']).ended).toBe(137)
  })

  test('gets SIGTERM, and its end is waited for', async () => {
    const run = service(`
      process.on('SIGTERM', () => setTimeout(() => { console.log('drained'); process.exit(0) }, 100))
      setInterval(() => {}, 1000)
      console.log('ready')
    `).launch(['start'])
    await vi.waitFor(() => expect(run.said()).toContain('ready'), { timeout: 20_000 })
    run.child.kill('SIGTERM')

    expect(await run.ended).toBe(0)
    expect(run.said()).toContain('drained')
  })

  test('of a suite of tests that is stopped does not end as a success', async () => {
    const tiny = project()
    expect(await tiny.launch(['journeys']).ended).toBe(1)
    tiny.write(
      'node_modules/turbo/bin/turbo',
      "process.on('SIGTERM', () => process.exit(0)); setInterval(() => {}, 1000); console.log('ready')",
    )
    const run = tiny.launch(['journeys'])
    await vi.waitFor(() => expect(run.said()).toContain('ready'), { timeout: 20_000 })
    run.child.kill('SIGTERM')

    expect(await run.ended).toBe(143)
  })

  test('gets one SIGINT where a terminal and npm send one each', async () => {
    const run = service(`
      let received = 0
      process.on('SIGINT', () => {
        received++
        console.log('interrupted')
        setTimeout(() => process.exit(received), 300)
      })
      setInterval(() => {}, 1000)
      console.log('ready')
    `).launch(['start'])
    await vi.waitFor(() => expect(run.said()).toContain('ready'), { timeout: 20_000 })
    run.child.kill('SIGINT')
    await vi.waitFor(() => expect(run.said()).toContain('interrupted'))
    run.child.kill('SIGINT')

    expect(await run.ended).toBe(1)
  })

  test('is chosen by name where the script takes one', async () => {
    const run = service('').launch(['service', 'catalog', '--port', '8082'])

    expect(await run.ended).toBe(0)
    expect(run.said()).toContain('catalog with --port 8082')
  })

  test('finds Node 24 as `node`, wherever the PATH leads', async () => {
    const tiny = service(`
      import { execFileSync } from 'node:child_process'
      console.log(execFileSync('node', ['--version'], { encoding: 'utf8' }))
    `)
    await tiny.launch(['start']).ended
    const run = tiny.launch(['start'], { PATH: '/nowhere' })

    expect(await run.ended).toBe(0)
    expect(run.said()).toBe(`${process.version}\n\n`)
  })

  test('keeps its compiled code for the next start', async () => {
    const tiny = service("import { values } from './values.ts'\nconsole.log(values)")
    tiny.write(
      'services/standalone/src/values.ts',
      `export const values: number[] = [${'1, '.repeat(1_000)}]`,
    )
    await tiny.launch(['start'], { NODE_COMPILE_CACHE: undefined }).ended

    expect(readdirSync(join(tiny.root, '.cache/compiled'))).not.toEqual([])
  })

  const skipped = 'Windows has no links among its commands'
  test.skipIf(process.platform === 'win32')(
    'has Node 24 among the commands that npm installed',
    { meta: { skipped } },
    () => {
      const { root, write } = project()
      const bundled = `node_modules/node-${process.platform}-${process.arch}/bin/node`
      write(bundled, 'the program')
      write('node_modules/.bin/turbo', '')
      linkRuntime(root)
      linkRuntime(root)

      expect(readFileSync(join(root, 'node_modules/.bin/node'), 'utf8')).toBe('the program')
    },
  )
})
