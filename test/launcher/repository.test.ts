import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { USAGES } from '../../bin/usage.mjs'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const json = (path: string) => JSON.parse(read(path))
const workspaces = globSync('{packages,services,test}/*/package.json', { cwd: root }).map(dirname).sort()
const withScript = (script: string) =>
  workspaces.filter(workspace => json(`${workspace}/package.json`).scripts?.[script] !== undefined)
const tested = withScript('test')

describe('every workspace with tests', () => {
  test.each(workspaces.filter(workspace => /\bvitest run/.test(read(`${workspace}/package.json`))))(
    '%s runs them with the shared settings',
    workspace => {
      const { test = 'vitest run', journeys } = json(`${workspace}/package.json`).scripts
      expect(test).toBe('vitest run')
      if (journeys) expect(journeys).toBe('vitest run --config vitest.journeys.config.ts')
      for (const config of globSync(`${workspace}/vitest*.config.ts`, { cwd: root }))
        expect(read(config)).toMatch(/'(\.\.\/\.\.|\.)\/vitest(\.journeys)?\.config\.ts'/)
    },
  )

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

test('servers and programs are installed before the journeys that start them, outside their time limits', () => {
  const { tasks } = json('turbo.json')
  const starting = withScript('journeys').filter(workspace =>
    globSync(`${workspace}/**/*.ts`, { cwd: root, exclude: ['**/node_modules/**'] }).some(file =>
      /\b(goProgram|chartsProgram|find(Nats|Mongo|S3|Promtool))\(|startCluster\(/.test(read(file)),
    ),
  )
  const missing = starting
    .map(workspace => tasks[`${json(`${workspace}/package.json`).name}#journeys`] ?? tasks.journeys)
    .filter(task => !task.dependsOn.some((name: string) => /^(@gantry\/engines#)?programs$/.test(name)))
  expect(starting).toContain('test/cluster')
  expect(missing).toEqual([])
})

describe('tests that start processes', () => {
  // These tests run faulty test files on purpose.
  const testsOfThis = ['test/launcher/orphans.journey.ts', 'test/launcher/settings-of-tests.journey.ts']
  // The service ends this process itself.
  const product = ['services/standalone/src/main.ts']
  const texts = globSync('{packages,services,test}/**/*.ts', { cwd: root, exclude: ['**/node_modules'] })
    .filter(file => ![...testsOfThis, ...product].includes(file))
    .map(file => ({ file, text: read(file) }))
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
      [...read(join(workspace, source)).matchAll(/\bfrom '(@gantry\/[\w-]+)/g)].map(match => match[1]),
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

  // npm leaves the integrity out when it writes the entry of a package that it has not fetched.
  test('has the integrity of every package, and no address', () => {
    const { packages } = json('package-lock.json') as { packages: Record<string, Locked> }
    const open = Object.entries(packages)
      .filter(([path, { link }]) => path.includes('node_modules/') && !link)
      .filter(([, { integrity, resolved }]) => !integrity?.startsWith('sha512-') || resolved)
      .map(([path]) => path)

    expect(open).toEqual([])
  })
})

interface Locked {
  link?: boolean
  integrity?: string
  resolved?: string
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

test('every command has help: that of operators prints its own', () => {
  const operators = read('services/operations/src/commands.ts')
  const scripts = Object.keys(json('package.json').scripts).filter(script => script !== 'lint')
  const others = scripts.filter(script => !new RegExp(`^  '?${script}( \\w+)?'?: \\{`, 'm').test(operators))
  expect(Object.keys(USAGES).toSorted()).toEqual(others.toSorted())
})
