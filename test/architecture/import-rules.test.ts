import { describe, expect, test } from 'vitest'
import { cruiseProject } from './src/cruise.ts'
import { FILE_RULES, FOLDER_RULES } from './src/import-rules.ts'
import { manifest, plant, ROOT, runNode, WORKSPACES } from './src/planted-project.ts'

const MAIN = `${ROOT}/test/architecture/src/main.ts`

/** Names of the rules of one vendor, with the vendor and the only workspace that may import it. */
const vendorRules = [...FILE_RULES].flatMap(({ name = '' }) => {
  const [, vendor, owner] = /^(\S+) only in (\S+)$/.exec(name) ?? []
  return vendor && owner ? [{ name, vendor, owner }] : []
})
const vendors = vendorRules.map(({ vendor }) => vendor).filter(vendor => !vendor.startsWith('node:'))

const importing = (...specifiers: string[]) =>
  specifiers.map((specifier, index) => `import { a as a${index} } from '${specifier}'\n`).join('')

/** Files that every planted project has. */
const NEIGHBOURS = {
  'bin/a.mjs': '',
  'packages/embedded/src/index.ts': 'export const a = 1',
  'packages/tracing/package.json': manifest('@gantry/tracing', { exports: { './otlp': './src/otlp.ts' } }),
  'packages/tracing/src/otlp.ts': 'export const a = 1',
  'packages/stores/src/index.ts': 'export const a = 1',
  'packages/stores-mongo/src/index.ts': 'export const a = 1',
  'services/catalog/src/index.ts': 'export const a = 1',
  'services/media/src/index.ts': 'export const a = 1',
  'services/media/src/testing/index.ts': 'export const a = 1',
  'test/faults/src/index.ts': 'export const a = 1',
}

const SOURCES = Object.keys(NEIGHBOURS).filter(path => !path.endsWith('.json')).length

/** The rules that the files of a project break, as "rule: file". */
const broken = async (files: Record<string, string>, also: string[] = []) => {
  const { violations, unread } = await cruiseProject(
    plant({ ...NEIGHBOURS, ...files }, { vendors: [...vendors, ...also] }),
  )
  expect(unread).toEqual([])
  return [...new Set(violations.map(violation => violation.split(' → ')[0]))].sort()
}

describe('import rules', () => {
  test('report one planted violation of each rule', async () => {
    const planted: Record<string, [file: string, text: string][]> = {
      'a service imports no other service': [
        ['services/catalog/src/service.ts', importing('@gantry/media')],
        ['services/catalog/src/service.test.ts', importing('@gantry/media')],
      ],
      'an area of the console imports no other area': [
        ['services/console/app/apis/page/tab.ts', importing('../../webhooks/a.ts')],
        ['services/console/app/parts/links.ts', "export type { A } from '../shell/a.ts'"],
      ],
      'the client imports nothing': [
        ['packages/client/src/timers.ts', importing('node:timers')],
        ['packages/client/src/retries.ts', importing('@gantry/stores')],
      ],
      'the SDK of OpenTelemetry is loaded on demand': [
        ['services/media/src/otlp.ts', importing('@gantry/tracing/otlp')],
      ],
      'every vendor has an owner': [['services/media/src/sharp.ts', importing('sharp')]],
      'imports resolve': [['services/media/src/lost.ts', importing('./nowhere.ts')]],
      'no cycle of files': [['packages/stores/src/one.ts', "export { a } from './two.ts'"]],
      'no cycle of folders': [
        ['services/media/src/left', ''],
        ['services/media/src/right', ''],
      ],
      'only composition roots import adapters': [
        ['services/catalog/src/app.ts', importing('@gantry/embedded')],
        ['packages/stores/src/port.ts', "export type { A } from '@gantry/stores-mongo'"],
      ],
      'only tests import the launcher': [['services/media/src/bin.ts', importing('../../../bin/a.mjs')]],
      'packages import no service': [
        ['packages/stores/src/service.ts', importing('@gantry/media')],
        ['packages/stores/src/service.test.ts', importing('@gantry/media/testing')],
      ],
      'production code imports no development dependencies': [
        ['services/media/src/dev.ts', importing('zod')],
        // A tool of the root.
        ['services/media/src/tool.ts', importing('pino')],
      ],
      'production code imports no tests': [
        ['services/media/src/tested.ts', importing('./testing/index.ts')],
        ['services/catalog/src/tested.ts', importing('@gantry/faults')],
      ],
      'workspaces import each other by name': [
        ['packages/embedded/src/reach.ts', importing('../../stores/src/index.ts')],
        ['test/faults/reach.test.ts', importing('../../services/media/src/index.ts')],
      ],
      ...Object.fromEntries(
        vendorRules.map(({ name, vendor, owner }, index): [string, [string, string][]] => [
          name,
          [
            [
              `packages/${owner === 'packages/stores' ? 'embedded' : 'stores'}/src/vendor${index}.ts`,
              importing(vendor),
            ],
          ],
        ]),
      ),
    }
    const files = Object.fromEntries(
      Object.values(planted)
        .flat()
        .filter(([, text]) => text),
    )

    const found = await broken(
      {
        ...files,
        'package.json': JSON.stringify({ workspaces: WORKSPACES, devDependencies: { pino: '*' } }),
        'services/media/package.json': manifest('@gantry/media', { devDependencies: { zod: '*' } }),
        'packages/stores/src/two.ts': "import type { A } from './one.ts'",
        'services/console/app/webhooks/a.ts': '',
        'services/console/app/shell/a.ts': '',
        'services/media/src/left/a.ts': importing('../right/a.ts'),
        'services/media/src/right/a.ts': '',
        'services/media/src/right/b.ts': importing('../left/b.ts'),
        'services/media/src/left/b.ts': '',
      },
      ['pino', 'sharp', 'zod'],
    )

    expect(found).toEqual(
      Object.entries(planted)
        .flatMap(([rule, files]) => files.map(([file]) => `${rule}: ${file}`))
        .sort(),
    )
    expect(Object.keys(planted).sort()).toEqual(
      [...FILE_RULES, ...FOLDER_RULES].map(({ name }) => name).sort(),
    )
  })

  test('see every form of import', async () => {
    const forms = [
      "import type { Db } from 'mongodb'",
      "import {\n  type Db,\n  MongoClient,\n} from 'mongodb'",
      "import 'mongodb'",
      "export { MongoClient } from 'mongodb'",
      "const { MongoClient } = await import('mongodb')",
      "const { MongoClient } = require('mongodb')",
      "import { x } from 'mongodb/lib/x.js'",
      "process.getBuiltinModule('node:sqlite')",
    ]
    const found = await broken({
      ...Object.fromEntries(forms.map((form, index) => [`services/catalog/src/form${index}.ts`, form])),
      'node_modules/mongodb/lib/x.js': '',
    })

    expect(found.map(violation => violation?.split(': ')[1])).toEqual(
      forms.map((_, index) => `services/catalog/src/form${index}.ts`),
    )
  })

  test('permit what the layers are for', async () => {
    const found = await broken(
      {
        ...Object.fromEntries(
          vendorRules.flatMap(({ vendor, owner }, index) => [
            // The first of several owners.
            [`${owner.replace(/\((\w+)\|.*\)/, '$1')}/src/vendor${index}.ts`, importing(vendor)],
            [`services/catalog/src/vendor${index}.test.ts`, importing(vendor)],
          ]),
        ),
        'packages/hosting/src/stores/stores.ts': importing('@gantry/stores-mongo'),
        'packages/hosting/src/tracing.ts':
          "export type { A } from '@gantry/tracing/otlp'\nexport const otlp = () => import('@gantry/tracing/otlp')",
        'packages/service-runtime/src/zod.ts': importing('zod'),
        'services/operations/src/a.ts': importing('@gantry/media', '@gantry/embedded'),
        'services/standalone/src/a.ts': importing('@gantry/media', '@gantry/embedded'),
        'services/catalog/src/main.ts': importing('@gantry/embedded'),
        'services/catalog/src/a.test.ts': importing('@gantry/embedded', '../../../bin/a.mjs'),
        'services/catalog/src/port.ts': importing('@gantry/stores', './owner/b.ts'),
        'services/catalog/src/owner/b.ts': '',
        'services/console/app/apis/page/tab.ts': importing('../a.ts', '../../http/a.ts', '../../parts/a.ts'),
        'services/console/app/apis/a.ts': '',
        'services/console/app/http/a.ts': '',
        'services/console/app/parts/a.ts': importing('../http/a.ts'),
        'services/console/app/login/a.ts': '',
        'services/console/app/shell/a.ts': importing('../login/a.ts'),
        'services/catalog/vitest.config.ts': importing('../../vitest.config.ts'),
        // The test of a folder may use any other.
        'services/catalog/src/owner/b.test.ts': importing('../api/c.ts'),
        'services/catalog/src/api/c.ts': importing('../owner/b.ts'),
        'test/faults/a.test.ts': importing('@gantry/media/testing', '@gantry/embedded', 'sharp'),
        'vitest.config.ts': importing('zod'),
      },
      ['sharp', 'zod'],
    )

    expect(found).toEqual([])
  })
})

describe('the check of imports', () => {
  test('exits with 1 and prints the rule of a violation', async () => {
    const root = plant({ ...NEIGHBOURS, 'services/catalog/src/app.ts': importing('@gantry/media') })
    const { code, output } = await runNode([MAIN, root])

    expect(output).toContain('a service imports no other service')
    expect(output).toContain('services/catalog/src/app.ts')
    expect(code).toBe(1)
  })

  test('exits with 0 and prints the number of files without a violation', async () => {
    const { code, output } = await runNode([MAIN, plant(NEIGHBOURS)])

    expect(output).toBe(`Checked the imports and sizes of ${SOURCES} files. No violations found.\n`)
    expect(code).toBe(0)
  })

  test('fails with a TypeScript that dependency-cruiser skips', async () => {
    const hook = `import { registerHooks } from 'node:module'
      registerHooks({
        resolve: (name, context, next) =>
          next(/^typescript(\\/|$)/.test(name) ? name.replace('typescript', '@typescript/native') : name, context),
      })`
    const root = plant({ ...NEIGHBOURS, 'services/catalog/src/app.ts': importing('@gantry/media') })
    const { code, output } = await runNode([
      '--import',
      `data:text/javascript,${encodeURIComponent(hook)}`,
      MAIN,
      root,
    ])

    expect(output).toContain(`did not read ${SOURCES} source files`)
    expect(code).toBe(1)
  })
})
