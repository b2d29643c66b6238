import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { endsWithParent } from '../../bin/orphans.mjs'

const launcher = join(import.meta.dirname, '../../bin')

/** A launched script. */
interface Run {
  readonly child: ChildProcess
  /** Standard output and standard error so far. */
  readonly output: () => string
  /** Resolves with the exit code; 128 or more after a signal. */
  readonly ended: Promise<number>
}

/** A small project in its own folder, with the real launcher and without installed packages. */
export interface Project {
  readonly root: string
  readonly write: (path: string, content: string | object) => void
  readonly launch: (args: readonly string[], env?: NodeJS.ProcessEnv) => Run
}

/**
 * Creates a project whose `start` prints its arguments.
 * @param registry from which its only dependency, `crate` 1.0.0, is installed. Default: a folder of the project
 * @param toolIntegrity adds a development dependency, `tool` 1.0.0, and a script that needs it, `cluster`
 */
export function project(
  registry?: { url: string; integrity: string },
  { toolIntegrity }: { toolIntegrity?: string } = {},
): Project {
  const root = mkdtempSync(join(tmpdir(), 'gantry-launcher-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const write = (path: string, content: string | object) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), typeof content === 'string' ? content : JSON.stringify(content, null, 2))
  }

  const self = {
    name: 'tiny',
    version: '1.0.0',
    dependencies: { crate: registry ? '1.0.0' : 'file:crate' },
    ...(toolIntegrity && { devDependencies: { tool: '1.0.0' } }),
  }
  const locked = registry
    ? { 'node_modules/crate': { version: '1.0.0', integrity: registry.integrity } }
    : { 'node_modules/crate': { resolved: 'crate', link: true }, crate: { version: '1.0.0' } }
  const tool = toolIntegrity && {
    'node_modules/tool': { version: '1.0.0', dev: true, integrity: toolIntegrity },
  }
  cpSync(launcher, join(root, 'bin'), { recursive: true })
  write('package.json', { ...self, type: 'module' })
  write('package-lock.json', { ...self, lockfileVersion: 3, packages: { '': self, ...locked, ...tool } })
  write('crate/package.json', { name: 'crate', version: '1.0.0' })
  write('npmrc', '')
  write('services/standalone/src/main.ts', "console.log('started with', process.argv.slice(2).join(' '))\n")
  if (tool) write('test/cluster/src/main.ts', "console.log('cluster started')\n")

  const launch: Project['launch'] = (args, env = {}) => {
    const child = endsWithParent(
      spawn(process.execPath, ['bin/gantry.mjs', ...args], {
        cwd: root,
        env: {
          ...process.env,
          npm_config_userconfig: join(root, 'npmrc'),
          npm_config_cache: join(root, 'cache'),
          npm_config_registry: registry?.url ?? 'http://127.0.0.1:1',
          npm_config_fetch_retries: '1',
          npm_config_fetch_retry_mintimeout: '10',
          NO_PROXY: '127.0.0.1',
          ...env,
        },
      }),
    )
    let output = ''
    child.stdout.on('data', chunk => {
      output += chunk
    })
    child.stderr.on('data', chunk => {
      output += chunk
    })
    const ended = new Promise<number>(resolve => child.once('close', code => resolve(code ?? 128)))
    onTestFinished(async () => {
      if (child.exitCode === null) child.kill('SIGTERM')
      await ended
    })
    return { child, output: () => output, ended }
  }
  return { root, write, launch }
}
