import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onPath, run } from '@gantry/engines'
import { madeFolder } from './src/cache.ts'
import { journeyOf } from './src/story.ts'

const STORIES = join(import.meta.dirname, 'stories/go')
/** On a machine with cold caches Go compiles its standard library and the generator. */
const COMPILE_MS = 1_200_000

journeyOf('Go', {
  generators: 'oapi-codegen',
  missing: async () => ((await onPath('go')) ? undefined : 'go'),
  async install() {
    const doing = 'compiling the generator of Go, once'
    await run('go', ['build', '-o', '/dev/null', 'tool'], { cwd: STORIES, timeoutMs: COMPILE_MS, doing })
  },
  async build(document) {
    const files = join(STORIES, '{*.go,go.*,config.yaml}')
    const folder = await madeFolder('go', [files], [document], async cwd => {
      const go = (...args: string[]) => run('go', args, { cwd, timeoutMs: COMPILE_MS })
      await writeFile(join(cwd, 'openapi.json'), document)
      await mkdir(join(cwd, 'gantry'))
      await go('tool', 'oapi-codegen', '-config', 'config.yaml', 'openapi.json')
      await go('vet', './...')
      await go('build', '-o', 'story', '.')
    })
    return [{ command: join(folder, 'story'), args: [] }]
  },
})
