import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT, textOf } from './src/files.ts'

const manual = textOf('docs/operations.md')

/** The files that tell operators commands. */
const guides = ['README.md', 'docker-compose.yml', ...globSync('{docs,deploy}/**/*.md', { cwd: ROOT })]

test('the programs that guides run in containers are in the image', () => {
  const programs = guides.flatMap(path => {
    const text = textOf(path)
    const inPods = text.matchAll(/\bkubectl\b.* exec .* -- (\S+)/g)
    const inCompose = text.matchAll(/\bcompose exec (?:-\S+ )*\S+ (\S+)/g)
    return [...inPods, ...inCompose].map(([, program]) => `${path}: ${program}`)
  })
  expect(programs.length).toBeGreaterThan(5)
  expect(programs.filter(program => !/: (node|gantry)$/.test(program))).toEqual([])
})

test('containers that guides add to pods keep the rights of the namespace', () => {
  const commands = guides.flatMap(path => textOf(path).match(/^.*kubectl\b.* debug .*$/gm) ?? [])
  expect(commands.length).toBeGreaterThan(0)
  for (const command of commands) expect(command).toContain('--profile=restricted')
})

test('requests in guides send tokens in the form that the services accept', () => {
  const headers = guides.flatMap(path => textOf(path).match(/-H ["']authorization: .*?["']/gi) ?? [])
  expect(headers.length).toBeGreaterThan(5)
  for (const header of headers) expect(header).toMatch(/: Bearer /i)
})

test('steps that stop all services stop the autoscaler of KEDA too, and start it again', () => {
  const stopping = [...manual.matchAll(/```sh\n(.*?)```/gs)].filter(([, block]) =>
    block?.includes('scale deployment --all --replicas=0'),
  )
  expect(stopping).toHaveLength(1)
  for (const [, block] of stopping)
    expect(block).toMatch(/paused-replicas=0.*--replicas=0.*--replicas=2.*paused-replicas- /s)
})

test('the files and commands in the manual exist', () => {
  const paths = [...manual.matchAll(/[`(](?:\.\.\/)?((?:deploy|services|test)\/[\w./-]+)[`)]/g)].map(
    ([, path = '']) => path,
  )
  expect(paths.length).toBeGreaterThan(5)
  for (const path of paths) expect(existsSync(join(ROOT, path)), path).toBe(true)
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }
  for (const [, script = ''] of manual.matchAll(/npm run ([\w-]+)/g))
    expect(Object.keys(scripts)).toContain(script)
})
