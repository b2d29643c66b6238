import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { ViteUserConfig } from 'vitest/config'
import shared, { reportTo } from './vitest.config.ts'

const { test, ...config }: ViteUserConfig = shared
const GO = ['go', 'go.exe']

/** The folder itself if it does not contain Go, otherwise a folder with links to its other programs. */
function withoutGoIn(folder: string): string {
  if (!GO.some(name => existsSync(join(folder, name)))) return folder
  const others = mkdtempSync(join(tmpdir(), 'gantry-without-go-'))
  process.once('exit', () => rmSync(others, { recursive: true, force: true }))
  for (const name of readdirSync(folder))
    if (!GO.includes(name)) symlinkSync(join(folder, name), join(others, name))
  return others
}

/**
 * Settings for the tests of a workspace that depend on Go, run without it. NATS then comes from the PATH or from Debian, and
 * the read models are in SQLite files. The engines use a separate cache folder, since the usual one may have programs that
 * Go compiled.
 * @param include the test files that look for an engine or a program of Go
 */
export const withoutGo = (include: string[]): ViteUserConfig => ({
  ...config,
  test: {
    ...test,
    include,
    env: {
      PATH: (process.env.PATH ?? '').split(delimiter).map(withoutGoIn).join(delimiter),
      ENGINES_CACHE: join(import.meta.dirname, '.cache/engines-without-go'),
    },
    reporters: reportTo('.cache/without-go.json'),
  },
})
