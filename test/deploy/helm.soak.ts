import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CACHE, isThere, run } from '@gantry/engines'
import { RELEASE } from '@gantry/service-runtime'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CASES, REFUSED } from './src/chart-values.ts'
import { byName, CHART, chartsProgram, HELM, type Rendered, render, resourcesIn } from './src/charts.ts'

let folder: string
let helm: string
let rendered: Record<string, Rendered>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-helm-'))
  helm = await installed()
  const charts = await chartsProgram()
  if (!charts) throw new Error('test/deploy/charts could not be compiled')
  rendered = await render(charts, CASES)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Compiles Helm with Go unless it is cached. @returns the path of the program */
async function installed(): Promise<string> {
  const home = join(CACHE, `helm-${HELM}`)
  const program = join(home, 'helm')
  if (await isThere(program)) return program
  await run('go', ['install', `helm.sh/helm/v4/cmd/helm@v${HELM}`], {
    env: { GOBIN: home },
    timeoutMs: 1_200_000,
    doing: `compiling Helm ${HELM} with Go, once, for minutes`,
  })
  return program
}

/** Runs helm with the values in a file. @throws Error with the output of helm when it fails */
async function helmWith(values: object, ...args: string[]): Promise<string> {
  const file = join(folder, 'values.json')
  await writeFile(file, JSON.stringify(values))
  const { stdout } = await promisify(execFile)(helm, [...args, '--namespace', 'gantry', '--values', file], {
    maxBuffer: 10_000_000,
  })
  return stdout
}

test.each(Object.entries(CASES))('helm lint accepts the values: %s', async (_, values) => {
  expect(await helmWith(values, 'lint', '--strict', CHART)).toContain('0 chart(s) failed')
})

test.each(Object.entries(CASES))(
  'helm template renders what the tests of the chart read: %s',
  async (name, values) => {
    const text = await helmWith(values, 'template', 'gantry', CHART)
    expect(byName(resourcesIn(text))).toEqual(byName(rendered[name]?.resources ?? []))
  },
)

test('the archive of helm package renders the same', async () => {
  await run(helm, ['package', CHART, '--destination', folder], { timeoutMs: 60_000 })
  const text = await helmWith(CASES.everything, 'template', 'gantry', join(folder, `gantry-${RELEASE}.tgz`))
  expect(byName(resourcesIn(text))).toEqual(byName(rendered.everything?.resources ?? []))
})

test.each(REFUSED)('helm template refuses a wrong value by its name: %s', async (named, values) => {
  await expect(helmWith(values, 'template', 'gantry', CHART)).rejects.toThrow(named)
})
