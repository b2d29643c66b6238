import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { expectRuntime, linkRuntime } from '../../bin/runtime.mjs'
import { project } from './project.ts'

/** A small project whose service is `source`. It needs no packages from a registry. */
function service(source: string) {
  const tiny = project()
  tiny.write('services/standalone/src/main.ts', source)
  tiny.write('services/catalog/src/main.ts', "console.log('catalog with', process.argv.slice(2).join(' '))\n")
  return tiny
}

describe('the launched program', () => {
  test('is chosen by the script and passes its exit code to the launcher', async () => {
    const tiny = service('process.exit(3)')
    tiny.write('services/operations/src/main.ts', "console.log('commands', ...process.argv.slice(2))")
    expect(await tiny.launch(['start']).ended).toBe(3)
    const [help, named] = [tiny.launch(['--help']), tiny.launch(['service', 'catalog', '--port', '8082'])]
    expect([await help.ended, help.output()]).toEqual([0, expect.stringMatching(/^commands --help$/m)])
    expect([await named.ended, named.output()]).toEqual([0, expect.stringContaining('with --port 8082')])
  })

  test('makes the launcher exit with 128 and the signal number when a signal kills it', async () => {
    expect(await service("process.kill(process.pid, 'SIGKILL')").launch(['start']).ended).toBe(137)
  })

  test('receives SIGTERM, and the launcher waits for its exit', async () => {
    const run = service(`
      process.on('SIGTERM', () => setTimeout(() => { console.log('drained'); process.exit(0) }, 100))
      setInterval(() => {}, 1000)
      console.log('ready')
    `).launch(['start'])
    await vi.waitFor(() => expect(run.output()).toContain('ready'))
    run.child.kill('SIGTERM')

    expect(await run.ended).toBe(0)
    expect(run.output()).toContain('drained')
  })

  test('makes the launcher fail when it is a test suite that was stopped', async () => {
    const tiny = project()
    expect(await tiny.launch(['journeys']).ended).toBe(1)
    tiny.write(
      'node_modules/turbo/bin/turbo',
      "process.on('SIGTERM', () => process.exit(0)); setInterval(() => {}, 1000); console.log('ready')",
    )
    const run = tiny.launch(['journeys'])
    await vi.waitFor(() => expect(run.output()).toContain('ready'))
    run.child.kill('SIGTERM')

    expect(await run.ended).toBe(143)
  })

  test('is turbo for each workspace with journeys, and one failure is the result', async () => {
    const tiny = project()
    expect(await tiny.launch(['journeys']).ended).toBe(1)
    for (const name of ['audit', 'bench', 'cluster', 'console', 'demo'])
      tiny.write(`test/${name}/package.json`, { scripts: { [name === 'bench' ? 'bench' : 'journeys']: '' } })
    tiny.write(
      'node_modules/turbo/bin/turbo',
      `const filter = process.argv.find(argument => argument.startsWith('--filter=')) ?? process.argv[3]
      console.log('turbo', filter)
      process.exit(filter === '--filter=./test/cluster' ? 1 : 0)`,
    )
    const run = tiny.launch(['journeys'])
    expect(await run.ended).toBe(1)
    const [first, ...others] = [...run.output().matchAll(/^turbo (.*)/gm)].map(([, filter]) => filter)
    const filters = ['audit', 'cluster', 'console', 'demo'].map(name => `--filter=./test/${name}`)
    expect([first, others.toSorted()]).toEqual(['programs', filters])
  })

  test('receives one SIGINT when a terminal and npm each send one', async () => {
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
    await vi.waitFor(() => expect(run.output()).toContain('ready'))
    run.child.kill('SIGINT')
    await vi.waitFor(() => expect(run.output()).toContain('interrupted'))
    run.child.kill('SIGINT')

    expect(await run.ended).toBe(1)
  })

  test('finds Node 24 as `node`, whatever the PATH', async () => {
    const tiny = service(`
      import { execFileSync } from 'node:child_process'
      console.log(execFileSync('node', ['--version'], { encoding: 'utf8' }))
    `)
    await tiny.launch(['start']).ended
    const run = tiny.launch(['start'], { PATH: '/nowhere' })

    expect(await run.ended).toBe(0)
    expect(run.output()).toBe(`${process.version}\n\n`)
  })

  test('stores its compiled code for the next start', async () => {
    const tiny = service("import { values } from './values.ts'\nconsole.log(values)")
    tiny.write(
      'services/standalone/src/values.ts',
      `export const values: number[] = [${'1, '.repeat(1_000)}]`,
    )
    await tiny.launch(['start'], { NODE_COMPILE_CACHE: undefined }).ended

    expect(readdirSync(join(tiny.root, '.cache/compiled'))).not.toEqual([])
  })

  const skipped = 'Windows does not link installed commands'
  test.skipIf(process.platform === 'win32')(
    'finds Node 24 among the commands that npm installed',
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

  test('is refused before the installation on a platform without Node 24', () => {
    const lockfile = { packages: { 'node_modules/node-sunos-sparc': {} } }

    expect(() => expectRuntime(lockfile, '20.20.2')).toThrow(
      `Gantry runs on Node 24; npm has none for ${process.platform}-${process.arch} and this is Node 20.20.2.`,
    )
    expect(() => expectRuntime(lockfile, '24.21.0')).not.toThrow()
  })
})
