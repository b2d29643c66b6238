import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { manifest, plant, ROOT, runNode } from './src/planted-project.ts'

const KNIP = join(ROOT, 'node_modules/knip/bin/knip.js')
const included = (): string[] =>
  JSON.parse(/"include": (\[[^\]]*\])/.exec(readFileSync(join(ROOT, 'knip.jsonc'), 'utf8'))?.[1] ?? '[]')

/** Without findings. */
const USED = {
  'services/catalog/package.json': manifest('@gantry/catalog', { dependencies: { zod: '*' } }),
  'services/catalog/src/main.ts': "import { z } from 'zod'\nimport { a } from './a.ts'\nconsole.log(z, a)",
  'services/catalog/src/a.ts': 'export const a = 1',
  'services/catalog/src/a.test.ts': "import { a } from './a.ts'\nconsole.log(a)",
}

interface Issue {
  file: string
  [kind: string]: string | { name: string }[] | { name: string }[][]
}

async function knip(files: Record<string, string>) {
  const root = plant({ ...USED, ...files }, { vendors: ['zod', 'pino', 'ajv'], settings: ['knip.jsonc'] })
  const { code, stdout } = await runNode([KNIP, '--no-config-hints', '--reporter', 'json'], root)
  const { issues }: { issues: Issue[] } = JSON.parse(stdout)
  const found = issues.flatMap(({ file, ...kinds }) =>
    Object.entries(kinds).flatMap(([kind, names]) =>
      Array.isArray(names) ? names.flat().map(({ name }) => `${kind}: ${file} ${name}`) : [],
    ),
  )
  return { code, found: found.sort() }
}

describe('the check of unused and undeclared code', () => {
  test('finds nothing in files that are used', async () => {
    expect(await knip({})).toEqual({ code: 0, found: [] })
  })

  test('finds one planted violation of each kind', async () => {
    const catalog = 'services/catalog'
    const { code, found } = await knip({
      [`${catalog}/package.json`]: manifest('@gantry/catalog', {
        dependencies: { zod: '*', pino: '*' },
        devDependencies: { ajv: '*' },
      }),
      [`${catalog}/src/unused.ts`]: 'export const unused = 1',
      [`${catalog}/src/a.ts`]:
        'export const a = 1\nexport const twice = a\nexport const b = 1\nexport type C = 1',
      [`${catalog}/src/b.test.ts`]:
        "import { twice } from './a.ts'\nimport { u } from 'undici'\nimport { m } from '@gantry/media'\nimport { n } from './nowhere.ts'\nconsole.log(twice, u, m, n)",
      'services/media/src/index.ts': 'export const m = 1',
    })

    expect(found).toEqual([
      `dependencies: ${catalog}/package.json pino`,
      `devDependencies: ${catalog}/package.json ajv`,
      `duplicates: ${catalog}/src/a.ts a`,
      `duplicates: ${catalog}/src/a.ts twice`,
      `exports: ${catalog}/src/a.ts b`,
      `files: ${catalog}/src/unused.ts ${catalog}/src/unused.ts`,
      `types: ${catalog}/src/a.ts C`,
      `unlisted: ${catalog}/src/b.test.ts @gantry/media`,
      `unlisted: ${catalog}/src/b.test.ts undici`,
      `unresolved: ${catalog}/src/b.test.ts ./nowhere.ts`,
    ])
    expect(code).toBe(1)
    const kinds = new Set(
      found.map(finding => finding.split(':')[0]).filter(kind => kind !== 'devDependencies'),
    )
    expect([...kinds]).toEqual(included())
  })
})
