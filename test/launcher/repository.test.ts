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

  test('under test/ has only development dependencies, which npm start leaves out, except the demo', () => {
    const testing = workspaces.filter(workspace => /^test\/(?!demo$)/.test(workspace))
    expect(testing.filter(workspace => json(`${workspace}/package.json`).dependencies !== undefined)).toEqual(
      [],
    )
  })

  test('under test/ is not cached, because it also tests other workspaces', () => {
    const { tasks } = json('turbo.json')
    const outside = tested
      .filter(workspace => workspace.startsWith('test/'))
      .map(workspace => `${json(`${workspace}/package.json`).name}#test`)

    expect(outside.filter(task => tasks[task]?.cache !== false)).toEqual([])
  })
})

test('servers and programs are installed before the tests that start them, outside their time limits', () => {
  const { tasks } = json('turbo.json')
  const starting = tested.filter(workspace =>
    globSync(`${workspace}/**/*.ts`, { cwd: root, exclude: ['**/node_modules/**'] }).some(file =>
      /\b(goProgram|chartsProgram|find(Nats|Mongo|S3|Promtool))\(|startCluster\(/.test(
        readFileSync(join(root, file), 'utf8'),
      ),
    ),
  )
  const missing = starting
    .map(workspace => `${json(`${workspace}/package.json`).name}#test`)
    .filter(
      task => !tasks[task]?.dependsOn?.some((name: string) => /^(@gantry\/engines#)?programs$/.test(name)),
    )
  expect(starting).toContain('test/cluster')
  expect(missing).toEqual([])
})

describe('a test file that uses servers or Go', () => {
  /** Files whose result does not depend on Go, or which take too long, with the reason. */
  const leftOut = {
    'test/cluster/stop.test.ts': 'provides its own go',
    'test/engines/find-nats.test.ts': 'provides its own go',
    'test/cluster/notifier.test.ts':
      'takes minutes; only NATS differs, on which nats.test.ts has the same faults',
    'test/engines/event-store-faults.test.ts': 'compiles nothing with Go',
    'test/engines/event-store.test.ts': 'compiles nothing with Go',
    'test/engines/nats-credentials.test.ts': 'also runs on the NATS of Debian when Go is available',
    'test/engines/nats.test.ts': 'also runs on the NATS of Debian when Go is available',
    'test/engines/replay.test.ts': 'publishes only, which nats.test.ts does on the NATS of Debian too',
    'test/engines/relay.test.ts': 'also runs on the NATS of Debian when Go is available',
  }
  const looking = ['engines', 'cluster', 'faults'].flatMap(workspace =>
    globSync(`test/${workspace}/*.test.ts`, { cwd: root }).filter(file =>
      /\bfind(Nats|Mongo|EventStore)|startCluster|dirname, 'src\/main|'go'/.test(
        readFileSync(join(root, file), 'utf8'),
      ),
    ),
  )

  test.each(looking)('%s also runs without Go, or is left out for a reason', file => {
    const config = readFileSync(join(root, dirname(file), 'vitest.without-go.config.ts'), 'utf8')
    expect(config.includes(`'${basename(file)}'`)).toBe(!(file in leftOut))
  })
})

describe('tests that start processes', () => {
  // These tests run faulty test files on purpose.
  const testsOfThis = ['test/launcher/orphans.test.ts', 'test/launcher/settings-of-tests.test.ts']
  // The service ends this process itself.
  const product = ['services/standalone/src/console-build.ts']
  const texts = globSync('{packages,services,test}/**/*.ts', { cwd: root, exclude: ['**/node_modules'] })
    .filter(file => ![...testsOfThis, ...product].includes(file))
    .map(file => ({ file, text: readFileSync(join(root, file), 'utf8') }))
  const filesThat = (pattern: RegExp) =>
    texts.filter(({ text }) => pattern.test(text)).map(({ file }) => file)

  test('make them end with the test process, even if it is killed', () => {
    expect(filesThat(/endsWithParent\(\s*(spawn|fork)\(/).length).toBeGreaterThan(10)
    expect(filesThat(/(?<!endsWithParent\(\s*)(?<![.\w])(spawn|fork)\(/)).toEqual([])
  })

  // A child process with the output of the run keeps it open, so that the run does not end before the process does.
  test('do not pass their own output to them', () => {
    expect(filesThat(/\bstdio:.*'inherit'/)).toEqual([])
  })
})

describe('a cached test run', () => {
  const cached = tested.filter(workspace => !workspace.startsWith('test/'))

  test.each(cached)('of %s depends on all imported workspaces', workspace => {
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
  // Otherwise npm 11 refuses `npm ci`. npm leaves them out of the lockfile when it cannot fetch them.
  test('contains the packages of every platform', () => {
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

/** Whether `name` resolves from the package at `path`, in its own node_modules or in one above. */
function resolves(packages: Record<string, Locked>, path: string, name: string): boolean {
  const inside = path === '' ? `node_modules/${name}` : `${path}/node_modules/${name}`
  if (packages[inside]) return true
  if (path === '') return false
  const above = path.lastIndexOf('node_modules/')
  return resolves(packages, above <= 0 ? '' : path.slice(0, above - 1), name)
}
