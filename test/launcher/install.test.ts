import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { project } from './project.ts'
import { registry } from './registry.ts'

const limit = { timeout: 60_000, interval: 50 }

describe('an install', () => {
  test('installs the packages of the lockfile, reports it, and starts the service', async () => {
    const tiny = project(await registry())
    const run = tiny.launch(['start', '--port', '8081'])

    expect(await run.ended).toBe(0)
    expect(run.output()).toContain('Installing: nothing is installed yet.')
    expect(run.output()).toMatch(/^added 1 package in /m)
    expect(run.output()).toContain('started with --build-console --port 8081')
    expect(existsSync(join(tiny.root, 'node_modules/crate/package.json'))).toBe(true)
  })

  test('runs only once', async () => {
    const open = await registry()
    const tiny = project(open)
    await tiny.launch(['start']).ended
    const requests = open.requests()

    const again = tiny.launch(['start'])

    expect(await again.ended).toBe(0)
    expect(again.output()).toBe('started with --build-console\n')
    expect(open.requests()).toBe(requests)
  })

  test('runs again when the lockfile has changed', async () => {
    const tiny = project(await registry())
    await tiny.launch(['start']).ended
    tiny.write('package-lock.json', `${readFileSync(join(tiny.root, 'package-lock.json'), 'utf8')}\n`)

    const again = tiny.launch(['start'])

    expect(await again.ended).toBe(0)
    expect(again.output()).toContain('Installing: package-lock.json has changed.')
  })

  test('runs again when node_modules is from another platform', async () => {
    const tiny = project(await registry())
    await tiny.launch(['start']).ended
    const stamp = join(tiny.root, 'node_modules/.gantry-installed')
    tiny.write('node_modules/.gantry-installed', readFileSync(stamp, 'utf8').replace(/^\S+/, 'sunos-sparc'))

    const again = tiny.launch(['start'])

    expect(await again.ended).toBe(0)
    expect(again.output()).toContain('node_modules is from another platform, sunos-sparc')
  })

  test('that was interrupted by Ctrl-C is repeated by the next run', async () => {
    const closed = await registry({ opened: false })
    const tiny = project(closed)
    const first = tiny.launch(['start'])
    await vi.waitFor(() => expect(closed.requests()).toBe(1), limit)
    first.child.kill('SIGINT')

    expect(await first.ended).toBe(130)
    expect(first.output()).toContain('Stopped while installing: the next run starts the install again.')

    closed.open()
    const second = tiny.launch(['start'])
    expect(await second.ended).toBe(0)
    expect(second.output()).toContain('started with')
    expect(existsSync(join(tiny.root, 'node_modules/crate/package.json'))).toBe(true)
  })

  test('runs in one of two concurrent launches; the other one waits for it', async () => {
    const closed = await registry({ opened: false })
    const tiny = project(closed)
    const first = tiny.launch(['start', 'first'])
    await vi.waitFor(() => expect(closed.requests()).toBe(1), limit)
    const second = tiny.launch(['start', 'second'])
    await vi.waitFor(() => expect(second.output()).toContain('Another run is installing here'), limit)
    closed.open()

    expect(await Promise.all([first.ended, second.ended])).toEqual([0, 0])
    expect(first.output()).toContain('started with --build-console first')
    expect(second.output()).toBe(
      'Another run is installing here: waiting for it.\nstarted with --build-console second\n',
    )
  })

  test('takes over the lock of a killed run', async () => {
    const tiny = project(await registry())
    tiny.write('.cache/install.lock', '4242 left by a killed run')
    const run = tiny.launch(['start'])

    expect(await run.ended).toBe(0)
    expect(run.output()).toContain('Another run is installing here')
    expect(run.output()).toContain('started with')
  })
})

// Each test runs npm several times.
describe('the test tools', { timeout: 120_000 }, () => {
  const nothing = 'nothing is installed yet'
  const withTools = async () => {
    const open = await registry()
    const tiny = project(open, open)
    const has = (path: string) => existsSync(join(tiny.root, 'node_modules', path))
    /** Launches a script and expects success. */
    const run = async (script: string, env = {}) => {
      const { ended, output } = tiny.launch([script], env)
      expect([await ended, output()]).toEqual([0, expect.any(String)])
      return output()
    }
    return { ...tiny, has, run }
  }

  test('are left out by `start`, and added for scripts that need them without changing other packages', async () => {
    const { root, write, has, run } = await withTools()
    expect(await run('start')).toContain(`Installing: ${nothing}.`)
    expect([has('crate/package.json'), has('tool')]).toEqual([true, false])

    write('node_modules/crate/open.js', 'opened by a running service')
    const state = () => [
      statSync(join(root, 'node_modules/crate/package.json')).ino,
      readFileSync(join(root, 'package-lock.json'), 'utf8'),
    ]
    const before = state()
    const added = await run('cluster', { NODE_ENV: 'production', npm_config_package_lock: 'false' })
    expect(added).toContain('Installing: the test tools are missing.')
    expect(added).toMatch(/^added 1 package in \S+\ncluster started\n$/m)
    expect([has('tool/package.json'), has('crate/open.js')]).toEqual([true, true])
    expect(state()).toEqual(before)

    expect(await run('start')).toBe('started with --build-console\n')
    expect(await run('cluster')).toBe('cluster started\n')
  })

  test('are left out by `demo` and `receiver`, which run beside a service', async () => {
    const { write, has, run } = await withTools()
    for (const name of ['main', 'receiver'])
      write(`test/demo/src/${name}.ts`, "console.log('demo started')\n")
    expect(await run('demo')).toContain(`Installing: ${nothing}.`)
    expect(await run('receiver')).toBe('demo started\n')
    expect(has('tool')).toBe(false)
  })

  test('are installed with the other packages when nothing is installed', async () => {
    const { run } = await withTools()
    const installed = await run('cluster')
    expect(installed).toContain(`Installing: ${nothing}.`)
    expect(installed).toMatch(/^added 2 packages in /m)
    expect(await run('start')).toBe('started with --build-console\n')
  })

  test('are added once for concurrent launches, none of which disturbs another', async () => {
    const { run } = await withTools()
    const outputs = await Promise.all(['start', 'cluster', 'cluster'].map(script => run(script)))
    expect(outputs[0]).toContain('started with --build-console\n')
    expect(outputs.join('').match(/Installing: .*/g)?.length).toBeLessThanOrEqual(2)
    expect(outputs.join('').match(/cluster started/g)).toHaveLength(2)
    expect(await run('cluster')).toBe('cluster started\n')
  })

  test('are not needed by `start`, which works when they cannot be installed', async () => {
    const { launch, run } = await withTools()
    await run('start')
    const failing = launch(['cluster'], { npm_config_registry: 'http://127.0.0.1:1' })
    expect(await failing.ended).toBe(1)
    expect(failing.output()).toContain('Cannot install: npm install failed.')
    expect(await run('start')).toBe('started with --build-console\n')
  })

  test('are added again when an interrupted addition has left them incomplete', async () => {
    const { write, has, run } = await withTools()
    await run('start')
    write('node_modules/tool/package.json', { name: 'tool', version: '1.0.0' })
    write('node_modules/tool/half.js', 'cut sho')
    await run('cluster')
    expect([has('tool/package.json'), has('tool/half.js')]).toEqual([true, false])
  })
})

describe('a failure has a clear message and a non-zero exit code when', () => {
  test('the registry is out of reach', async () => {
    const open = await registry()
    const tiny = project({ url: 'http://127.0.0.1:1', integrity: open.integrity })
    const run = tiny.launch(['start'])

    expect(await run.ended).toBe(1)
    expect(run.output()).toMatch(/^Installing: nothing is installed yet\.\nnpm error code ECONNREFUSED\n/)
    expect(run.output()).toMatch(
      /\nCannot install: npm ci failed\.\nCheck the disk, the network, the proxy \(npm config get proxy\) and the registry .*\n$/,
    )
  })

  test('the registry returns another package than the locked one', async () => {
    const open = await registry()
    const run = project({ ...open, integrity: `sha512-${'A'.repeat(86)}==` }).launch(['start'])

    expect(await run.ended).toBe(1)
    expect(run.output()).toMatch(/^npm error code EINTEGRITY$.*^Cannot install: npm ci failed\.$/ms)
  })

  test('the lockfile lacks a dependency', async () => {
    const tiny = project(await registry())
    tiny.write('package.json', {
      name: 'tiny',
      version: '1.0.0',
      dependencies: { crate: '1.0.0', other: '1.0.0' },
    })
    const run = tiny.launch(['start'])

    expect(await run.ended).toBe(1)
    expect(run.output()).toMatch(/package-lock\.json.*in sync.*^Cannot install: npm ci failed\.$/ms)
  })

  test('the folder cannot hold an install', async () => {
    const tiny = project(await registry())
    tiny.write('.cache', 'a file where a folder should be')
    const run = tiny.launch(['start'])

    expect(await run.ended).toBe(1)
    expect(run.output()).toMatch(/^Cannot install: .*\.cache/)
    expect(run.output()).not.toContain(' at ')
  })

  test("npm fails but exits with 0, as on a full disk; npm's warnings are left out", async () => {
    const tiny = project(await registry())
    tiny.write(
      'npm-cli.js',
      `if (!process.argv.includes('--loglevel=error')) console.error('npm warn EBADENGINE Unsupported engine')
       console.error('npm error Exit handler never called!')`,
    )
    const run = tiny.launch(['start'], {
      npm_execpath: join(tiny.root, 'npm-cli.js'),
      npm_node_execpath: process.execPath,
    })

    expect(await run.ended).toBe(1)
    expect(run.output()).toContain('npm error Exit handler never called!\nCannot install: npm ci failed.')
    expect(run.output()).not.toContain('EBADENGINE')
  })

  test('npm leaves out a package of this platform, which it does silently when the disk is full', async () => {
    const tiny = project()
    const lockfile = JSON.parse(readFileSync(join(tiny.root, 'package-lock.json'), 'utf8'))
    lockfile.packages['node_modules/binding'] = { version: '1.0.0', optional: true, os: [process.platform] }
    tiny.write('package-lock.json', lockfile)
    tiny.write(
      'npm-cli.js',
      `import { mkdirSync, writeFileSync } from 'node:fs'
       mkdirSync('node_modules')
       writeFileSync('node_modules/.package-lock.json', '{}')`,
    )
    const run = tiny.launch(['start'], {
      npm_execpath: join(tiny.root, 'npm-cli.js'),
      npm_node_execpath: process.execPath,
    })

    expect(await run.ended).toBe(1)
    expect(run.output()).toContain('Cannot install: npm left out binding.')
    expect(run.output()).not.toContain('started')
  })

  test('there is no npm', async () => {
    const run = project().launch(['start'], { PATH: '/nowhere', npm_execpath: undefined })

    expect(await run.ended).toBe(1)
    expect(run.output()).toContain('Cannot install: spawn npm ENOENT\nCheck ')
  })

  test('the program of the script is missing', async () => {
    const tiny = project()
    rmSync(join(tiny.root, 'services'), { recursive: true })
    const run = tiny.launch(['start'])

    expect(await run.ended).toBe(1)
    expect(run.output()).toBe('There is nothing to run at services/standalone/src/main.ts.\n')
  })

  test('the script is unknown', async () => {
    const run = project().launch(['strat'])

    expect(await run.ended).toBe(1)
    expect(run.output()).toContain('There is no script "strat".')
  })
})
