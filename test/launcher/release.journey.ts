import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'gantry-release-'))
const env = {
  ...process.env,
  ...{ GIT_AUTHOR_NAME: 'test', GIT_AUTHOR_EMAIL: 'test@example.org' },
  ...{ GIT_COMMITTER_NAME: 'test', GIT_COMMITTER_EMAIL: 'test@example.org' },
}
const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, env, encoding: 'utf8' })
const textOf = (path: string) => readFileSync(join(folder, path), 'utf8')
const { version: former } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string
}

const release = (...args: string[]) => releaseWith(env, ...args)

/** Runs the script. @returns its exit code and output */
function releaseWith(env: NodeJS.ProcessEnv, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['bin/release.mjs', ...args], {
    cwd: folder,
    env,
    encoding: 'utf8',
  })
  return { status, output: stdout + stderr }
}

beforeAll(() => {
  const files = [
    'package.json',
    'package-lock.json',
    'CHANGELOG.md',
    'docker-compose.yml',
    'bin',
    'deploy',
    '**/package.json',
  ]
  const tracked = execFileSync('git', ['ls-files', ...files], { cwd: root, encoding: 'utf8' })
  for (const file of new Set(['bin/release.mjs', ...tracked.trim().split('\n')]))
    cpSync(join(root, file), join(folder, file), { recursive: true })
  writeFileSync(join(folder, '.gitignore'), '.cache\n')
  const changes = textOf('CHANGELOG.md').replace(
    '## Unreleased\n',
    '## Unreleased\n\n### Added\n\n- A change.\n',
  )
  writeFileSync(join(folder, 'CHANGELOG.md'), changes)
  git('init', '--quiet')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'before')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('npm run release', () => {
  test.each([
    [['0.2'], 2, /^usage: npm run release/],
    [[], 2, /^usage: npm run release/],
    [[former], 1, /does not follow/],
    [['0.0.9'], 1, /^0\.0\.9 does not follow/],
  ])('refuses %j', (args, code, message) => {
    const { status, output } = release(...args)
    expect([status, output]).toEqual([code, expect.stringMatching(message)])
    expect(git('status', '--porcelain')).toBe('')
  })

  test('refuses uncommitted changes, and a changelog without changes', () => {
    const changes = textOf('CHANGELOG.md')
    writeFileSync(join(folder, 'CHANGELOG.md'), `${changes.split('## Unreleased')[0]}## Unreleased\n`)
    expect(release('99.0.0').output).toMatch(/^There are uncommitted changes/)
    git('commit', '--quiet', '--all', '--message', 'no changes')
    expect(release('99.0.0').output).toMatch(/^CHANGELOG\.md has nothing under "Unreleased"/)
    git('reset', '--quiet', '--hard', 'HEAD~1')
  })

  test('commits and tags nothing when the packages cannot be listed', () => {
    const bin = mkdtempSync(join(tmpdir(), 'gantry-npm-'))
    writeFileSync(join(bin, 'npm'), '#!/bin/sh\necho broken >&2\nexit 1\n', { mode: 0o755 })
    const { status, output } = releaseWith({ ...env, PATH: `${bin}:${process.env.PATH}` }, '98.0.0')
    rmSync(bin, { recursive: true })
    expect([status, output]).toEqual([1, expect.stringContaining('broken')])
    expect([git('tag', '--list'), git('log', '--format=%s').trim()]).toEqual(['', 'before'])
    git('reset', '--quiet', '--hard')
  })

  test('sets the version everywhere, commits, tags and lists the packages of the image', () => {
    const { status, output } = release('99.0.0')
    expect([status, output]).toEqual([0, expect.stringContaining('committed and tagged as v99.0.0')])
    expect(git('describe', '--exact-match').trim()).toBe('v99.0.0')
    expect(git('status', '--porcelain')).toBe('')
    for (const file of ['package.json', 'services/catalog/package.json', 'packages/contracts/package.json'])
      expect(JSON.parse(textOf(file))).toMatchObject({ version: '99.0.0' })
    expect(textOf('deploy/kubernetes/kustomization.yaml')).toContain('newTag: 99.0.0')
    expect(textOf('docker-compose.yml')).toContain('image: gantry:99.0.0')
    // git grep exits with 1 when it finds nothing.
    const search = () =>
      git('grep', '--fixed-strings', `gantry:${former}`, '--', 'deploy', 'docker-compose.yml')
    expect(search).toThrow(expect.objectContaining({ status: 1 }))
    expect(textOf('CHANGELOG.md')).toMatch(/## Unreleased\n\n## 99\.0\.0 - \d{4}-\d\d-\d\d\n\n### Added/)
    const changed = git('show', '--unified=0', '--format=', 'package-lock.json').split('\n')
    const lines = changed.filter(line => /^\+ /.test(line))
    expect(lines.length).toBeGreaterThan(20)
    expect(new Set(lines.map(line => line.slice(1).replace(',', '').trim()))).toEqual(
      new Set(['"version": "99.0.0"']),
    )

    const bill = JSON.parse(textOf('.cache/gantry-99.0.0.cdx.json')) as { components: { name: string }[] }
    const names = bill.components.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['fastify', 'mongodb', '@aws-sdk/client-s3']))
    expect(names).not.toContain('vitest')
    expect(release('99.0.0').output).toMatch(/does not follow/)
  })
})
