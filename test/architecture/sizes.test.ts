import { describe, expect, test } from 'vitest'
import { plant, ROOT, runNode } from './src/planted-project.ts'
import { checkSizes } from './src/sizes.ts'

const APP = 'services/catalog/src/app.ts'
const lines = (count: number) => 'a()\n'.repeat(count)
/** Fields named from the first letter on, as members of a type. */
const fields = (count: number) => Array.from({ length: count }, (_, index) => `f${index}: 1`).join('\n')
const names = (count: number) => Array.from({ length: count }, (_, index) => `f${index}`).join(', ')

/** What the rules report of one file, without its path. */
const found = (text: string, path = APP) =>
  checkSizes(plant({ [path]: text })).map(line => line.replace(`${path} `, ''))

describe('a function has at most 80 lines', () => {
  test.for([
    ['a declaration', 'run', `function run() {\n${lines(79)}}`],
    ['an arrow function', 'run', `export const run = async () => {\n${lines(79)}}`],
    ['a function of an object', 'run', `const parts = {\n  run: () => {\n${lines(79)}},\n}`],
    ['a method', 'Runner.run', `class Runner {\n  run() {\n${lines(79)}}\n}`],
    ['a constructor', 'Runner', `class Runner {\n  constructor() {\n${lines(79)}}\n}`],
    ['a function without a name', 'module', `setTimeout(() => {\n${lines(79)}})`],
  ] as const)('%s of 81 lines', ([, name, text]) => {
    expect(found(text)).toEqual([`${name}: 81 lines, at most 80`])
    expect(found(text.replace('a()\n', ''))).toEqual([])
  })

  test('except in tests', () => {
    const text = `export function run() {\n${lines(100)}}`
    for (const path of [
      'services/catalog/src/app.test.ts',
      'services/catalog/src/testing/apis.ts',
      'test/faults/kill.soak.ts',
    ]) {
      expect(found(text, path)).toEqual([])
    }
  })

  test('and a class and a comment have no limit', () => {
    expect(found(`class Runner {\n${'run() {}\n'.repeat(100)}}`)).toEqual([])
    expect(found(`/**\n${' *\n'.repeat(100)}*/\nfunction run() {}`)).toEqual([])
  })
})

describe('an option bag has at most 8 fields', () => {
  test.for([
    ['named by its type', 'RunOptions', 'interface RunOptions {', '}\nfunction run(given: RunOptions) {}'],
    ['named by its parameter', 'Running', 'interface Running {', '}\nfunction run(options: Running) {}'],
    ['of an alias', 'Dependencies', 'type Dependencies = {', '}\nfunction run(given: Dependencies) {}'],
    ['written in place', 'parameter of run', 'const run = (given: {', '}) => 1'],
    [
      'that extends another',
      'RunOptions',
      'interface Base { a: 1 }\ninterface RunOptions extends Base {',
      '}\nfunction run({ a }: RunOptions) {}',
      8,
    ],
    [
      'that intersects another',
      'parameter of run',
      'interface Base { a: 1 }\nfunction run(given: Base & {',
      '}) {}',
      8,
    ],
  ] as const)('%s', ([, name, before, after, most = 9]) => {
    expect(found(`${before}\n${fields(most)}\n${after}`)).toEqual([`${name}: 9 fields, at most 8`])
    expect(found(`${before}\n${fields(most - 1)}\n${after}`)).toEqual([])
  })

  test('as a pattern of a parameter', () => {
    expect(found(`function run({ ${names(9)} }: Api) {}`)).toEqual(['parameter of run: 9 fields, at most 8'])
    expect(found(`function run({ ${names(8)} }: Api) {}`)).toEqual([])
  })

  test('in the file that declares it', () => {
    const root = plant({
      [APP]: "import type { RunOptions } from './run.ts'\nfunction run(options: RunOptions) {}",
      'services/catalog/src/run.ts': `export interface RunOptions {\n${fields(9)}\n}`,
    })
    expect(checkSizes(root)).toEqual(['services/catalog/src/run.ts RunOptions: 9 fields, at most 8'])
  })

  test('unlike documents, states and ports', () => {
    expect(found(`interface Api {\n${fields(20)}\n}\nfunction evolve(state: Api) {}`)).toEqual([])
  })
})

test('the check of sizes reports to npm run check', async () => {
  const root = plant({ [APP]: `function run() {\n${lines(79)}}` })
  const { code, output } = await runNode([`${ROOT}/test/architecture/src/main.ts`, root])
  expect(output).toContain(`${APP} run: 81 lines, at most 80`)
  expect(code).toBe(1)
})

test('a folder has at most 20 source files, without tests', () => {
  const files = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`packages/a/src/f${index}.ts`, '']))
  expect(checkSizes(plant({ ...files(20), 'packages/a/src/a.test.ts': '' }))).toEqual([])
  expect(checkSizes(plant(files(21)))).toEqual(['packages/a/src: 21 source files, at most 20'])
})
