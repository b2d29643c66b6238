import { readFileSync } from 'node:fs'
import { OPERATIONS_FILE, operationsSource } from '@gantry/client/testing'
import { describe, expect, test } from 'vitest'
import { missingFiles } from './src/documents.ts'
import { environmentReaders } from './src/environment.ts'
import { busyIndexes, defaultExports } from './src/exports.ts'
import { unfrozenCategories } from './src/frozen-streams.ts'
import { emptyNames, isRefusedByWindows } from './src/names.ts'
import { privatePlaces } from './src/private-places.ts'
import { type ProjectFile, projectFiles, projectPaths } from './src/project-files.ts'

const project = projectFiles()
const file = (path: string, ...lines: string[]): ProjectFile => ({ path, text: lines.join('\n') })
const folder = (...parts: string[]) => ['', ...parts].join('/')

test('the rules read the whole project', () => {
  const paths = project.map(({ path }) => path)
  expect(paths).toEqual(
    expect.arrayContaining([
      'package.json',
      'services/media/src/app.ts',
      'test/architecture/architecture.test.ts',
    ]),
  )
  expect(paths.filter(path => path.includes('node_modules'))).toEqual([])
})

describe('documents name files that exist', () => {
  const documents = project.filter(({ path }) => /^(docs\/[^/]+|README|CONTRIBUTING)\.md$/.test(path))
  test('in this project', () => {
    expect(documents.length).toBeGreaterThan(2)
    expect(missingFiles(project, documents)).toEqual([])
  })
  test('and no others', () => {
    const document = file('docs/a.md', 'See `services/a/src/b.ts`, `services/a` and `services/c.ts`.')
    expect(missingFiles([file('services/a/src/b.ts')], [document])).toEqual(['docs/a.md: services/c.ts'])
  })
})

test('the client has the operations of the contracts: npm run generate -w @gantry/client writes them', () => {
  expect(readFileSync(OPERATIONS_FILE, 'utf8') === operationsSource()).toBe(true)
})

test('every category of streams is in the list by which the audit log tells events of other applications', () => {
  const sources = project.filter(
    ({ path }) => /^services\/.*\.ts$/.test(path) && !/\.test\.|\/testing\//.test(path),
  )
  const named = (pattern: RegExp) =>
    sources.flatMap(({ text }) => [...text.matchAll(pattern)].map(([, name = '']) => name))
  const categories = [
    ...named(/\b(?:category: |streamName\()'([a-z]+)'/g),
    ...named(/\bscope: '([a-z]+)'/g).map(scope => `${scope}name`),
  ]
  const list = project.find(({ path }) => path === 'packages/contracts/src/events/subjects.ts')
  expect(categories.length).toBeGreaterThan(12)
  expect(categories.filter(category => !list?.text.includes(`'${category}'`))).toEqual([])
})

describe('only entry points read the environment', () => {
  test('in this project', () => expect(project.flatMap(environmentReaders)).toEqual([]))

  test.for([
    'const port = process.env.PORT',
    'const { PORT } = process.env',
    'const { env } = process',
    "import { env } from 'node:process'",
  ])('and no other file: %s', line => {
    expect(environmentReaders(file('services/catalog/src/app.ts', line))).toHaveLength(1)
    for (const path of [
      'services/catalog/src/main.ts',
      'services/catalog/src/config.ts',
      'bin/a.mjs',
      'test/bench/a.ts',
    ]) {
      expect(environmentReaders(file(path, line))).toEqual([])
    }
  })

  test.for(['/** Not from process.env. */', "const replaced = { 'process.env.NODE_ENV': '1' }"])(
    'except in comments and in what a bundler replaces: %s',
    line => {
      expect(environmentReaders(file('services/catalog/src/app.ts', line))).toEqual([])
    },
  )
})

describe('exports have names', () => {
  test('in this project', () => expect(project.flatMap(defaultExports)).toEqual([]))

  test.for(['export default 1', 'const a = 1\nexport { a as default }', "export { default } from './b.ts'"])(
    'and are not default exports: %s',
    line => {
      expect(defaultExports(file('services/catalog/src/a.ts', line))).toHaveLength(1)
      expect(defaultExports(file('services/catalog/vitest.config.ts', line))).toEqual([])
    },
  )
})

describe('an index file only re-exports', () => {
  test('in this project', () => expect(project.flatMap(busyIndexes)).toEqual([]))

  test.for([
    "export * from './a.ts'",
    "export * as a from './a.ts'",
    'export const a = 1',
    "import { a } from './a.ts'\na()",
    "export { z } from 'zod'",
  ])('and has no: %s', line => {
    expect(busyIndexes(file('packages/embedded/src/index.ts', line))).toHaveLength(1)
  })

  test('with comments', () => {
    const text =
      "/** Stores. */\nexport { a, type B } from './a.ts'\n// Types.\nexport type { C } from '../c.ts'\n"
    expect(busyIndexes(file('packages/embedded/src/index.ts', text))).toEqual([])
  })
})

describe('names describe what they name', () => {
  test('in this project', () => expect(project.flatMap(emptyNames)).toEqual([]))

  test.for<[string, string]>([
    ['packages/a/src/api-manager.ts', ''],
    ['packages/a/src/stringUtils.ts', ''],
    ['packages/shared/src/index.ts', ''],
    ['services/catalog/src/core/api.ts', ''],
    ['services/catalog/src/a.ts', 'export class ApiManager {}'],
    ['services/catalog/src/a.ts', 'export const dateUtil = 1'],
    ['services/catalog/src/a.ts', 'export async function commonThings() {}'],
    ['services/catalog/src/a.ts', 'export interface StoreImpl {}'],
    ['services/catalog/src/a.ts', 'const a = 1\nexport { a as testHelper }'],
    ['services/catalog/src/a.ts', 'export const SHARED_STATE = 1'],
  ])('and are not empty words: %s %s', ([path, text]) => {
    expect(emptyNames(file(path, text))).toHaveLength(1)
  })

  test('judged by whole words, of exports only', () => {
    expect(
      emptyNames(
        file('services/catalog/src/score.ts', 'export const scoreUtility2x = 1', 'const common = 1'),
      ),
    ).toEqual([])
    expect(
      emptyNames(
        file('services/catalog/src/commons.ts', '// export class Manager {}', 'export const simple = 1'),
      ),
    ).toEqual([])
  })
})

describe('Windows accepts the path of each file', () => {
  test('in this project', () => expect(projectPaths().filter(isRefusedByWindows)).toEqual([]))

  test.for([
    'packages/a/:memory:',
    'a?.ts',
    'docs/a|b/c.md',
    'a"b',
    'a*',
    '<a>',
    'a\\b',
    'docs/aux.md',
    'a./b',
    'NUL',
  ])('and not %s', path => expect(isRefusedByWindows(path)).toBe(true))
  test('.env and a.nul.ts are accepted', () =>
    expect(['.env', 'a.nul.ts', 'src/console.ts'].filter(isRefusedByWindows)).toEqual([]))
})

describe('no file contains a path or a registry of its authors', () => {
  test('in this project', () => expect(project.flatMap(privatePlaces)).toEqual([]))

  test.for([
    folder('work', 'main'),
    `cd ${folder('root')}`,
    `"${folder('home', 'ada', 'gantry')}"`,
    `file=${folder('Users', 'ada')}`,
    `https://${'registry'}.example.org/a.tgz`,
    `https://npm.${'artifactory'}.example.org:8443/a`,
    `"resolved": "${'https'}://example.org/a.tgz"`,
    `//example.org/:${'_authToken'}=secret`,
  ])('as in %s', line => {
    expect(privatePlaces(file('README.md', 'first', line))).toHaveLength(1)
  })

  test.for([
    `https://example.org${folder('home', 'page')}`,
    `./data${folder('work', 'a')}`,
    folder('workers'),
    'the npm registry is out of reach',
    '"resolved": "packages/contracts"',
  ])('but may contain %s', line => {
    expect(privatePlaces(file('README.md', line))).toEqual([])
  })
})

describe('every folded category has a test with streams of older commits', () => {
  const folding = file('services/catalog/src/app.ts', "const api = aggregate({ category: 'api', decider })")
  const testing = (workspace: string, category: string) =>
    file(`${workspace}/src/${category}.test.ts`, `testFrozenStreams({ folder, category: '${category}' })`)

  test('in this project', () => expect(unfrozenCategories(project)).toEqual([]))
  test('checked per category and workspace', () => {
    expect(unfrozenCategories([folding, testing('services/catalog', 'owner')])).toEqual([
      'services/catalog folds api, which has no frozen streams',
    ])
    expect(unfrozenCategories([folding, testing('services/media', 'api')])).toHaveLength(1)
    expect(unfrozenCategories([folding, testing('services/catalog', 'api')])).toEqual([])
  })
})
