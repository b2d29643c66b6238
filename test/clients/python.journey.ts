import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onPath, run } from '@gantry/engines'
import { madeFolder } from './src/cache.ts'
import { journeyOf } from './src/story.ts'

const STORIES = join(import.meta.dirname, 'stories/python')
const LOCKED = join(STORIES, 'requirements.txt')

/** The generated code has the enums of 3.11. Distributions have pip in a package of its own. */
const USABLE = 'import enum, pip, venv; enum.StrEnum'

async function missing(): Promise<string | undefined> {
  if (!(await onPath('python3'))) return 'python3'
  const works = run('python3', ['-c', USABLE], { timeoutMs: 60_000 })
  return works.then(
    () => undefined,
    () => 'Python 3.11 with pip',
  )
}

const environment = () =>
  madeFolder('python', [LOCKED], [], async cwd => {
    await run('python3', ['-m', 'venv', '--without-pip', '.'], { cwd, timeoutMs: 300_000 })
    const locked = ['--require-hashes', '--no-deps', '--only-binary=:all:', '-r', 'requirements.txt']
    const install = ['--python', 'bin/python', 'install', '--quiet', '--no-compile', ...locked]
    const doing = 'installing generators of Python with pip, once'
    await run('python3', ['-m', 'pip', ...install], { cwd, timeoutMs: 600_000, doing })
  })

journeyOf('Python', {
  generators: 'openapi-python-client',
  missing,
  install: async () => void (await environment()),
  async build(document) {
    const bin = join(await environment(), 'bin')
    const python = join(bin, 'python')
    const folder = await madeFolder(
      'python/stories',
      [LOCKED, join(STORIES, '{story.py,config.yaml}')],
      [document],
      async cwd => {
        await writeFile(join(cwd, 'openapi.json'), document)
        // The generator runs ruff by its name.
        const env = { PATH: `${bin}:${process.env.PATH}` }
        const generate = [
          'generate',
          '--path',
          'openapi.json',
          '--config',
          'config.yaml',
          '--meta',
          'none',
          '--output-path',
          'gantry',
        ]
        await run(join(bin, 'openapi-python-client'), generate, { cwd, env, timeoutMs: 300_000 })
        await run(python, ['-m', 'mypy', '--strict', 'gantry', 'story.py'], { cwd, timeoutMs: 600_000 })
      },
    )
    return [{ command: python, args: [join(folder, 'story.py')] }]
  },
})
