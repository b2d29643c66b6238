import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onPath, run } from '@gantry/engines'
import { madeFolder } from './src/cache.ts'
import { journeyOf } from './src/story.ts'

const STORIES = join(import.meta.dirname, 'stories/typescript')
const LOCKED = join(STORIES, 'package*.json')

/** The generators with the compiler that they need, which is not that of the project. */
const tools = () =>
  madeFolder('typescript', [LOCKED], [], async folder => {
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-engine-strict', '--loglevel=error']
    const doing = 'installing generators of TypeScript with npm, once'
    await run('npm', ['ci', ...flags], { cwd: folder, timeoutMs: 600_000, doing })
  })

/** Inside the folder of the tools, so that imports of packages resolve. */
const stories = (document: string) =>
  madeFolder(
    'typescript/stories',
    [LOCKED, join(STORIES, '*.{ts,mjs}'), join(STORIES, 'tsconfig.json')],
    [document],
    async folder => {
      await writeFile(join(folder, 'openapi.json'), document)
      await run(process.execPath, ['generate.mjs'], { cwd: folder, timeoutMs: 300_000 })
      const compiler = join(folder, '../node_modules/typescript/bin/tsc')
      await run(process.execPath, [compiler, '-p', '.'], { cwd: folder, timeoutMs: 300_000 })
    },
  )

journeyOf('TypeScript', {
  generators: 'openapi-typescript and @hey-api/openapi-ts',
  missing: async () => ((await onPath('npm')) ? undefined : 'npm'),
  install: async () => void (await tools()),
  async build(document) {
    const folder = await stories(document)
    return ['openapi-fetch', 'hey-api'].map(story => ({
      command: process.execPath,
      args: [join(folder, `built/${story}.js`)],
    }))
  },
})
