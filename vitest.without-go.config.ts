import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { ViteUserConfig } from 'vitest/config'
import shared, { reportTo } from './vitest.config.ts'

const { test, ...config }: ViteUserConfig = shared
const GO = ['go', 'go.exe']

/** A folder of the PATH, or links to the other programs in it where Go is one of them. */
function withoutGoIn(folder: string): string {
  if (!GO.some(name => existsSync(join(folder, name)))) return folder
  const others = mkdtempSync(join(tmpdir(), 'gantry-without-go-'))
  process.once('exit', () => rmSync(others, { recursive: true, force: true }))
  for (const name of readdirSync(folder))
    if (!GO.includes(name)) symlinkSync(join(folder, name), join(others, name))
  return others
}

/**
 * The tests of a workspace that differ on a machine without Go. There NATS is that of the PATH or of Debian, and read
 * models are in SQLite files. The engines have a folder of their own, since the usual one may hold what Go compiled.
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
