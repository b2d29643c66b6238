import { writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { onPath, run } from '@gantry/engines'
import { madeFolder } from './src/cache.ts'
import { journeyOf } from './src/story.ts'

const STORIES = join(import.meta.dirname, 'stories/java')
/** Both the generator and the compiler run for seconds, so optimized code of them would cost more time than it saves. */
const MAVEN_OPTS = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC'

/** Runs Maven on a project. It keeps what it downloads. */
const maven = (cwd: string, goals: readonly string[], doing?: string) =>
  run('mvn', ['--batch-mode', '--quiet', ...goals], {
    cwd,
    env: { MAVEN_OPTS },
    timeoutMs: 1_200_000,
    ...(doing && { doing }),
  })

async function missing(): Promise<string | undefined> {
  for (const program of ['mvn', 'javac']) if (!(await onPath(program))) return program
  return undefined
}

const project = (document: string) =>
  madeFolder('java', [join(STORIES, '{pom.xml,Story.java}')], [document], async cwd => {
    await writeFile(join(cwd, 'openapi.json'), document)
    await maven(cwd, ['package'])
  })

journeyOf('Java', {
  generators: 'openapi-generator with the library native',
  missing,
  async install() {
    const doing = 'installing generators of Java with Maven, once'
    await madeFolder('java-tools', [join(STORIES, 'pom.xml')], [], async cwd => {
      await maven(cwd, ['dependency:go-offline'], doing)
    })
  },
  async build(document) {
    const target = join(await project(document), 'target')
    const path = [join(target, 'classes'), join(target, 'dependency/*')].join(delimiter)
    return [{ command: 'java', args: ['-cp', path, 'Story'] }]
  },
})
