import { createHash, randomUUID } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'

const CONSOLE = join(import.meta.dirname, '..')
const ROOT = join(CONSOLE, '../..')
const APP = join(CONSOLE, 'app')
/** The packages that the pages use. */
const PACKAGES = ['client', 'markup'].map(name => join(ROOT, 'packages', name, 'src'))
/** The folder of all builds. Its file `current` names the folder of the one that the gateway serves. */
const BUILDS = join(ROOT, '.cache/console')
const POINTER = join(BUILDS, 'current')
/** Unfinished builds older than this were interrupted. */
const INTERRUPTED_MS = 10 * 60 * 1_000

/**
 * Builds the console unless its sources are built already, and makes the result the one that the gateway serves. An
 * interrupted build leaves the former one in place. Other builds are removed, but not those that another process may be
 * writing.
 * @returns whether something was built
 * @throws an error of Vite when the sources do not compile
 */
export async function buildConsole(): Promise<boolean> {
  const key = keyOfSources()
  if (existsSync(join(BUILDS, key, 'index.html'))) {
    await pointTo(key)
    return false
  }
  const unfinished = join(BUILDS, `${key}.${randomUUID()}`)
  const reference = await referenceScript()
  await bundle(unfinished, reference.name)
  await writeFile(join(unfinished, 'assets', reference.name), reference.script)
  await compress(join(unfinished, 'assets'))
  await rename(unfinished, join(BUILDS, key)).catch(async error => {
    // Another process has finished the same build.
    if (!existsSync(join(BUILDS, key, 'index.html'))) throw error
    await rm(unfinished, { recursive: true, force: true })
  })
  await pointTo(key)
  await removeOthers(key)
  return true
}

/** The digest of everything that a build depends on. */
function keyOfSources(): string {
  const hash = createHash('sha256')
  const files = [APP, ...PACKAGES]
    .flatMap(cwd => globSync('**/*', { cwd, withFileTypes: true }))
    .filter(entry => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map(entry => join(entry.parentPath, entry.name))
    .sort()
  for (const path of [...files, join(import.meta.dirname, 'build.ts'), join(CONSOLE, 'package.json')])
    hash.update(path.slice(ROOT.length)).update('\0').update(readFileSync(path)).update('\0')
  const lockfile = join(ROOT, 'package-lock.json')
  if (existsSync(lockfile)) hash.update(readFileSync(lockfile))
  return hash.digest('hex').slice(0, 16)
}

/** The pages of the build: the console, those of the frames that show documents, and /docs. */
const PAGES = ['index', 'frames/document', 'frames/sender', 'docs/docs']

/**
 * Scalar's API reference as one script. The package of its components would install 240 MB; that for Fastify has the same
 * script, which it serves.
 */
async function referenceScript(): Promise<{ name: string; script: string }> {
  const [{ fastify }, { default: scalar }] = await Promise.all([
    import('fastify'),
    import('@scalar/fastify-api-reference'),
  ])
  const app = fastify()
  await app.register(scalar, { routePrefix: '/reference', configuration: { content: {} } })
  const { statusCode, body: script } = await app.inject('/reference/js/scalar.js')
  await app.close()
  if (statusCode !== 200) throw new Error('Scalar has no script')
  const digest = createHash('sha256').update(script).digest('hex').slice(0, 8)
  return { name: `reference-${digest}.js`, script }
}

/** @param reference name of the script of the API reference among the assets */
async function bundle(outDir: string, reference: string): Promise<void> {
  // Loaded here, because a start with a finished build does not need it.
  const { build } = await import('vite')
  await build({
    configFile: false,
    root: APP,
    // Relative, because the path of the console is known only to the gateway.
    base: './',
    logLevel: 'warn',
    mode: 'production',
    // The entries for production, whatever NODE_ENV is: others of TanStack Router have the code of servers.
    resolve: { conditions: ['module', 'browser', 'production'] },
    define: {
      'process.env.NODE_ENV': '"production"',
      REFERENCE_SCRIPT: JSON.stringify(reference),
    },
    // Without the development runtime, whatever NODE_ENV is: React has none in a production build. The image has no
    // tsconfig.json.
    oxc: { jsx: { runtime: 'automatic', development: false } },
    build: {
      outDir,
      emptyOutDir: true,
      target: 'es2023',
      // These browsers know light-dark(). Its replacement for older ones does not follow the theme.
      cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
      // A data: URL would need a wider content security policy.
      assetsInlineLimit: 0,
      // Larger than every chunk: test/console checks the size of the first page.
      chunkSizeWarningLimit: 1_000,
      modulePreload: { polyfill: false },
      rolldownOptions: {
        input: PAGES.map(page => join(APP, `${page}.html`)),
        // The libraries mark their modules for servers that render React. A bundle for browsers ignores the marks.
        onLog: (level, entry, log) => {
          if (entry.code !== 'MODULE_LEVEL_DIRECTIVE') log(level, entry)
        },
      },
    },
  })
}

/** Writes a compressed file beside each, which the gateway serves to browsers. */
async function compress(folder: string): Promise<void> {
  const compressed = promisify(gzip)
  const write = async (name: string) => {
    const path = join(folder, name)
    await writeFile(
      `${path}.gz`,
      await compressed(await readFile(path), { level: constants.Z_BEST_COMPRESSION }),
    )
  }
  await Promise.all((await readdir(folder)).map(write))
}

async function pointTo(key: string): Promise<void> {
  await mkdir(BUILDS, { recursive: true })
  if ((await readFile(POINTER, 'utf8').catch(() => '')) === key) return
  const next = `${POINTER}.${randomUUID()}`
  await writeFile(next, key)
  await rename(next, POINTER)
}

async function removeOthers(key: string): Promise<void> {
  const others = (await readdir(BUILDS)).filter(name => name !== 'current' && name !== key)
  const remove = async (name: string) => {
    const path = join(BUILDS, name)
    if (isUnfinished(name) && (await isRecent(path))) return
    await rm(path, { recursive: true, force: true })
  }
  await Promise.all(others.map(remove))
}

/** Whether a name has the random part that finished builds do not have. */
const isUnfinished = (name: string) => name.includes('.')

async function isRecent(path: string): Promise<boolean> {
  const entry = await stat(path).catch(() => undefined)
  return entry !== undefined && Date.now() - entry.mtimeMs < INTERRUPTED_MS
}
