import { describe, expect, test } from 'vitest'
import { misdeclared, missingInProduction } from './src/dependencies.ts'
import { missingFiles } from './src/documents.ts'
import { environmentReaders } from './src/environment.ts'
import { busyIndexes, defaultExports } from './src/exports.ts'
import { unfrozenCategories } from './src/frozen-streams.ts'
import { layerViolations } from './src/layers.ts'
import { emptyNames } from './src/names.ts'
import { privatePlaces } from './src/private-places.ts'
import { type ProjectFile, projectFiles } from './src/project-files.ts'
import { settingsListed, settingsRead } from './src/settings.ts'
import { severalImporters } from './src/vendors.ts'

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

describe('the documents for contributors name files that exist', () => {
  const documents = project.filter(({ path }) => ['docs/architecture.md', 'CONTRIBUTING.md'].includes(path))
  test('in this project', () => {
    expect(documents).toHaveLength(2)
    expect(missingFiles(project, documents)).toEqual([])
  })
  test('and no others', () => {
    const document = file('docs/a.md', 'See `services/a/src/b.ts`, `services/a` and `services/c.ts`.')
    expect(missingFiles([file('services/a/src/b.ts')], [document])).toEqual(['docs/a.md: services/c.ts'])
  })
})

describe('every vendor has one importer', () => {
  test('in this project', () => expect(severalImporters(project)).toEqual([]))

  test.for([
    ['@eventstore/db-client', 'packages/event-store-esdb'],
    ['mongodb', 'packages/read-models-mongo'],
    ['nats', 'packages/messaging-nats'],
    ['node:sqlite', 'packages/embedded'],
    ['undici', 'services/notifier'],
    ['@fastify/jwt', 'packages/service-kit'],
  ])('%s only by %s', ([vendor, owner]) => {
    const importing = [`import { something } from '${vendor}'`]
    expect(severalImporters([file(`${owner}/src/a.ts`, ...importing)])).toEqual([])
    expect(severalImporters([file('services/catalog/src/a.test.ts', ...importing)])).toEqual([])
    expect(severalImporters([file('services/catalog/src/a.ts', ...importing)])).toHaveLength(1)
  })

  test.for([
    "import type { Db } from 'mongodb'",
    "import {\n  type Db,\n  MongoClient,\n} from 'mongodb'",
    "import 'mongodb'",
    "export { MongoClient } from 'mongodb'",
    "const { MongoClient } = await import('mongodb')",
    "const { MongoClient } = require('mongodb')",
    "import { x } from 'mongodb/lib/x'",
  ])('in any form of import: %s', importing => {
    expect(severalImporters([file('services/catalog/src/a.ts', importing)])).toHaveLength(1)
  })

  test('also for a vendor without an entry', () => {
    const importing = ["import sharp from 'sharp'"]
    const [one, other] = [
      file('services/media/src/a.ts', ...importing),
      file('services/catalog/src/a.ts', ...importing),
    ]
    expect(severalImporters([one])).toEqual([])
    expect(severalImporters([one, other])).toEqual([
      'sharp is imported by services/media and services/catalog',
    ])
  })

  test('except the libraries that the whole project uses', () => {
    const importing = ["import { z } from 'zod'"]
    expect(
      severalImporters([
        file('services/media/src/a.ts', ...importing),
        file('services/catalog/src/a.ts', ...importing),
      ]),
    ).toEqual([])
  })
})

describe('a workspace declares what it imports', () => {
  const declaring = (dependencies: Record<string, string>) =>
    file('services/catalog/package.json', JSON.stringify({ name: '@gantry/catalog', dependencies }))
  const importing = (specifier: string) =>
    file('services/catalog/src/a.test.ts', `import { a } from '${specifier}'`)

  test('in this project', () => expect(misdeclared(project)).toEqual([]))

  test('it must declare every import', () => {
    expect(misdeclared([declaring({}), importing('@gantry/embedded/testing')])).toEqual([
      'services/catalog imports @gantry/embedded, which it does not declare',
    ])
  })
  test('and nothing else', () => {
    expect(misdeclared([declaring({ zod: '4' })])).toEqual([
      'services/catalog declares zod, which it does not import',
    ])
  })
  test.for(['zod', 'zod/v4', '@gantry/catalog/testing', 'node:fs', './b.ts'])('%s is allowed', specifier => {
    const dependencies: Record<string, string> = specifier.startsWith('zod') ? { zod: '4' } : {}
    expect(misdeclared([declaring(dependencies), importing(specifier)])).toEqual([])
  })
})

describe('npm start installs what production code imports', () => {
  const declaring = (devDependencies: Record<string, string>) =>
    file('services/catalog/package.json', JSON.stringify({ name: '@gantry/catalog', devDependencies }))

  test('in this project', () => expect(missingInProduction(project)).toEqual([]))

  test.for([
    ['src/a.ts', ['services/catalog imports ajv, which npm start does not install']],
    ['src/a.test.ts', []],
    ['src/testing/a.ts', []],
  ] as const)('for %s', ([path, found]) => {
    const importing = file(`services/catalog/${path}`, "import { a } from 'ajv'")
    expect(missingInProduction([declaring({ ajv: '8' }), importing])).toEqual(found)
  })
})

describe('the layers', () => {
  test('in this project', () => expect(project.flatMap(layerViolations)).toEqual([]))

  test.for<[string, string, string]>([
    ['a service imports another', 'services/catalog/src/a.ts', '@gantry/media'],
    ['the test of a service imports another', 'services/catalog/src/a.test.ts', '@gantry/media'],
    ['a service reaches into another', 'services/catalog/src/a.ts', '../../media/src/app.ts'],
    ['a package imports a service', 'packages/service-kit/src/a.ts', '@gantry/catalog'],
    [
      'a package imports the testing of a service',
      'packages/demo/src/a.test.ts',
      '@gantry/standalone/testing',
    ],
    ['a package reaches into another', 'packages/embedded/src/a.ts', '../../read-models/src/index.ts'],
    ['a service chooses its store', 'services/catalog/src/app.ts', '@gantry/embedded'],
    ['a port knows an adapter', 'packages/read-models/src/a.ts', '@gantry/read-models-mongo'],
  ])('are broken when %s', ([, path, specifier]) => {
    expect(layerViolations(file(path, `import { something } from '${specifier}'`))).toHaveLength(1)
  })

  test.for<[string, string, string]>([
    ['standalone imports the services', 'services/standalone/src/a.ts', '@gantry/media'],
    ['standalone chooses the stores', 'services/standalone/src/a.ts', '@gantry/embedded'],
    ['a host of services chooses the stores', 'packages/hosting/src/a.ts', '@gantry/read-models-mongo'],
    ['a main.ts chooses the stores', 'services/catalog/src/main.ts', '@gantry/messaging-nats'],
    ['a test uses an adapter', 'services/catalog/src/a.test.ts', '@gantry/embedded'],
    ['a test across services imports a service', 'test/faults/a.test.ts', '@gantry/standalone/testing'],
    ['a service imports a port', 'services/catalog/src/a.ts', '@gantry/read-models'],
    ['a file imports its neighbour', 'services/catalog/src/api/a.ts', '../owner/b.ts'],
    [
      'a workspace imports the shared test settings',
      'services/catalog/vitest.config.ts',
      '../../vitest.config.ts',
    ],
  ])('permit that %s', ([, path, specifier]) => {
    expect(layerViolations(file(path, `import { something } from '${specifier}'`))).toEqual([])
  })
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

  test('except in comments', () => {
    expect(environmentReaders(file('services/catalog/src/app.ts', '/** Not from process.env. */'))).toEqual(
      [],
    )
  })
})

describe('the list of all settings equals the settings that programs read', () => {
  test('in this project', () => expect(settingsListed(project)).toEqual(settingsRead(project)))

  test('from a schema or directly', () => {
    expect(
      settingsRead([
        file(
          'services/a/src/settings.ts',
          'z.object({',
          '  PORT: whole(0, 1),',
          '  // OTHER: z.string(),',
          '})',
        ),
        file('packages/b/src/main.ts', "const { URL_OF_B, PORT: port = '1' } = process.env"),
        file('services/a/src/app.ts', '  OTHER: 1'),
      ]),
    ).toEqual(['PORT', 'URL_OF_B'])
  })
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
    file(`${workspace}/src/frozen-streams.test.ts`, `testFrozenStreams({ folder, category: '${category}' })`)

  test('in this project', () => expect(unfrozenCategories(project)).toEqual([]))
  test('checked per category and workspace', () => {
    expect(unfrozenCategories([folding, testing('services/catalog', 'owner')])).toEqual([
      'services/catalog folds api, which has no frozen streams',
    ])
    expect(unfrozenCategories([folding, testing('services/media', 'api')])).toHaveLength(1)
    expect(unfrozenCategories([folding, testing('services/catalog', 'api')])).toEqual([])
  })
})
