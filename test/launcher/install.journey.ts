import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { project } from './project.ts'
import { registry } from './registry.ts'

describe('an install', () => {
  test('is made once, and again for another lockfile and for node_modules of another platform', async () => {
    const open = await registry()
    const tiny = project(open)
    const path = (name: string) => join(tiny.root, name)
    const start = async () => {
      const run = tiny.launch(['start', '--port', '8081'])
      expect([await run.ended, run.output()]).toEqual([0, expect.stringContaining('started with')])
      return run.output()
    }

    const first = await start()
    expect(first).toContain('Installing: nothing is installed yet.')
    expect(first).toMatch(/^added 1 package in /m)
    expect(existsSync(path('node_modules/crate/package.json'))).toBe(true)
    const requests = open.requests()
    expect(await start()).toBe('started with --build-console --port 8081\n')
    expect(open.requests()).toBe(requests)

    tiny.write('package-lock.json', `${readFileSync(path('package-lock.json'), 'utf8')}\n`)
    expect(await start()).toContain('Installing: package-lock.json has changed.')
    const stamp = 'node_modules/.gantry-installed'
    tiny.write(stamp, readFileSync(path(stamp), 'utf8').replace(/^\S+/, 'sunos-sparc'))
    expect(await start()).toContain('node_modules is from another platform, sunos-sparc')
  })

  test('that was interrupted by Ctrl-C is repeated by the next run', async () => {
    const closed = await registry({ opened: false })
    const tiny = project(closed)
    const first = tiny.launch(['start'])
    await vi.waitFor(() => expect(closed.requests()).toBe(1))
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
    await vi.waitFor(() => expect(closed.requests()).toBe(1))
    const second = tiny.launch(['start', 'second'])
    await vi.waitFor(() => expect(second.output()).toContain('Another run is installing here'))
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

test('a package of data is installed when asked for, with the integrity that is asked for, and again if incomplete', async () => {
  const open = await registry()
  const tiny = project(open)
  const demo = async (integrity: string) => {
    const wanted = JSON.stringify({ name: 'tool', version: '1.0.0', integrity })
    const program = `import { installData } from '../../../bin/install.mjs'
      console.log(await installData(process.cwd(), ${wanted}))`
    tiny.write('test/demo/src/main.ts', program)
    const run = tiny.launch(['demo'])
    return { code: await run.ended, output: run.output() }
  }
  const other = open.integrity
  expect(await demo(other)).toEqual({ code: 1, output: expect.stringContaining('EINTEGRITY') })
  const folder = join(tiny.root, '.cache/tool/node_modules')
  expect(existsSync(join(folder, 'tool'))).toBe(false)

  const installed = { code: 0, output: expect.stringContaining('Installing: tool 1.0.0.') }
  expect(await demo(open.toolIntegrity)).toEqual(installed)
  expect(existsSync(join(folder, 'tool/package.json'))).toBe(true)
  expect(await demo(open.toolIntegrity)).toEqual({ code: 0, output: `${join(folder, 'tool')}\n` })
  rmSync(join(folder, '.package-lock.json'))
  expect(await demo(open.toolIntegrity)).toEqual(installed)
})

describe('the test tools', () => {
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

  test('are left out by `start` and `demo`, and added for other scripts without changing other packages', async () => {
    const { root, write, has, run } = await withTools()
    write('test/demo/src/main.ts', "console.log('demo started')\n")
    expect(await run('demo')).toContain(`Installing: ${nothing}.`)
    expect(await run('start')).toBe('started with --build-console\n')
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

  test('are added once for concurrent launches, none of which disturbs another', async () => {
    const { run } = await withTools()
    const outputs = await Promise.all(['start', 'cluster', 'cluster'].map(script => run(script)))
    expect(outputs[0]).toContain('started with --build-console\n')
    expect(outputs.join('').match(/Installing: .*/g)?.length).toBeLessThanOrEqual(2)
    expect(outputs.join('').match(/cluster started/g)).toHaveLength(2)
    expect(await run('cluster')).toBe('cluster started\n')
  })

  test('are added again when an addition failed or left them incomplete; `start` works without them', async () => {
    const { write, has, launch, run } = await withTools()
    await run('start')
    const failing = launch(['cluster'], { npm_config_registry: 'http://127.0.0.1:1' })
    expect(await failing.ended).toBe(1)
    expect(failing.output()).toContain('Cannot install: npm install failed.')
    expect(await run('start')).toBe('started with --build-console\n')

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
