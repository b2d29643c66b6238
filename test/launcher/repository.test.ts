import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const json = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'))
const workspaces = globSync('{packages,services,test}/*/package.json', { cwd: root }).map(dirname).sort()
const tested = workspaces.filter(workspace => json(`${workspace}/package.json`).scripts?.test !== undefined)

describe('every workspace with tests', () => {
  test.each(tested)('%s runs its tests with the shared settings', workspace => {
    expect(json(`${workspace}/package.json`).scripts.test).toBe('vitest run')
    expect(readFileSync(join(root, workspace, 'vitest.config.ts'), 'utf8')).toContain(
      "'../../vitest.config.ts'",
    )
  })

  test('is in the lockfile', () => {
    expect(workspaces.filter(workspace => !json('package-lock.json').packages[workspace])).toEqual([])
  })

  test('under test/ has development dependencies alone, which npm start leaves out', () => {
    const testing = workspaces.filter(workspace => workspace.startsWith('test/'))
    expect(testing.filter(workspace => json(`${workspace}/package.json`).dependencies !== undefined)).toEqual(
      [],
    )
  })

  test('under test/, which looks at others from outside, is never answered from the cache', () => {
    const { tasks } = json('turbo.json')
    const outside = tested
      .filter(workspace => workspace.startsWith('test/'))
      .map(workspace => `${json(`${workspace}/package.json`).name}#test`)

    expect(outside.filter(task => tasks[task]?.cache !== false)).toEqual([])
  })
})

describe('a test file that looks for engines or Go', () => {
  /** Those of which nothing differs without Go, or that are too long for what does. */
  const leftOut = {
    'test/cluster/stop.test.ts': 'has a Go of its own',
    'test/engines/find-nats.test.ts': 'has a Go of its own',
    'test/cluster/notifier.test.ts':
      'minutes; what differs is NATS, on which nats.test.ts has the same faults',
    'test/engines/event-store-faults.test.ts': 'nothing of it is compiled with Go',
    'test/engines/event-store.test.ts': 'nothing of it is compiled with Go',
    'test/engines/nats-credentials.test.ts': 'runs on the NATS of Debian with Go, too',
    'test/engines/nats.test.ts': 'runs on the NATS of Debian with Go, too',
    'test/engines/relay.test.ts': 'runs on the NATS of Debian with Go, too',
  }
  const looking = ['engines', 'cluster', 'faults'].flatMap(workspace =>
    globSync(`test/${workspace}/*.test.ts`, { cwd: root }).filter(file =>
      /\bfind(Nats|Mongo|EventStore)|startCluster|dirname, 'src\/main|'go'/.test(
        readFileSync(join(root, file), 'utf8'),
      ),
    ),
  )

  test.each(looking)('%s is run without Go, too, or left out for a reason', file => {
    const config = readFileSync(join(root, dirname(file), 'vitest.without-go.config.ts'), 'utf8')
    expect(config.includes(`'${basename(file)}'`)).toBe(!(file in leftOut))
  })
})

describe('tests that start processes', () => {
  // These have faulty tests run.
  const testsOfThis = ['test/launcher/orphans.test.ts', 'test/launcher/settings-of-tests.test.ts']
  const texts = globSync('{packages,services,test}/**/*.ts', { cwd: root, exclude: ['**/node_modules'] })
    .filter(file => !testsOfThis.includes(file))
    .map(file => ({ file, text: readFileSync(join(root, file), 'utf8') }))
  const filesThat = (pattern: RegExp) =>
    texts.filter(({ text }) => pattern.test(text)).map(({ file }) => file)

  test('have them end when the process of the tests ends, also when it is killed', () => {
    expect(filesThat(/endsWithParent\(\s*(spawn|fork)\(/).length).toBeGreaterThan(10)
    expect(filesThat(/(?<!endsWithParent\(\s*)(?<![.\w])(spawn|fork)\(/)).toEqual([])
  })

  // Such a process keeps the output of the run open, so that the run does not end before the process does.
  test('do not give them their own output', () => {
    expect(filesThat(/\bstdio:.*'inherit'/)).toEqual([])
  })
})

describe('a cached test run', () => {
  const cached = tested.filter(workspace => !workspace.startsWith('test/'))

  test.each(cached)('of %s depends on all that it imports', workspace => {
    const { name, dependencies, devDependencies } = json(`${workspace}/package.json`)
    const declared = new Set([
      name,
      ...Object.keys({ ...dependencies, ...devDependencies }),
      '@gantry/embedded',
    ])
    const sources = globSync('**/*.ts', { cwd: join(root, workspace), exclude: ['node_modules'] })
    const imported = sources.flatMap(source =>
      [...readFileSync(join(root, workspace, source), 'utf8').matchAll(/\bfrom '(@gantry\/[\w-]+)/g)].map(
        match => match[1],
      ),
    )

    expect(imported.filter(other => !declared.has(other))).toEqual([])
  })
})

describe('the lockfile', () => {
  // npm 11 refuses `npm ci` otherwise; npm leaves them out when it writes the lockfile and cannot fetch them.
  test('names the packages of every platform', () => {
    const { packages } = json('package-lock.json') as { packages: Record<string, Locked> }
    const unnamed = Object.entries(packages).flatMap(([path, locked]) =>
      Object.keys(locked.optionalDependencies ?? {}).filter(name => !resolves(packages, path, name)),
    )

    expect(unnamed).toEqual([])
  })
})

interface Locked {
  optionalDependencies?: Record<string, string>
}

/** Whether `name` is found from the package at `path`, in its own node_modules or in one above. */
function resolves(packages: Record<string, Locked>, path: string, name: string): boolean {
  const inside = path === '' ? `node_modules/${name}` : `${path}/node_modules/${name}`
  if (packages[inside]) return true
  if (path === '') return false
  const above = path.lastIndexOf('node_modules/')
  return resolves(packages, above <= 0 ? '' : path.slice(0, above - 1), name)
}
