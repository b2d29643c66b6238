// Makes a release: sets its version in all files that name one, dates the changelog, writes the list of its packages (SBOM),
// commits and tags. Nothing is published; the commands for that are printed.
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from './runtime.mjs'

const root = process.cwd()
const read = (/** @type {string} */ file) => readFileSync(join(root, file), 'utf8')
const write = (/** @type {string} */ file, /** @type {string} */ text) =>
  writeFileSync(join(root, file), text)
const run = (/** @type {string} */ program, /** @type {string[]} */ ...args) =>
  execFileSync(program, args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })

const EMPTY_SECTION = /## Unreleased\s*(?=## |$)/

/** Refuses what cannot become a release. Changes nothing. @type {(version: string, former: string) => void} */
function check(version, former) {
  // Each part of at most six digits, so that texts compare as versions do.
  const comparable = (/** @type {string} */ text) =>
    text
      .split('.')
      .map(part => part.padStart(6, '0'))
      .join('.')
  if (comparable(version) <= comparable(former))
    throw new UserError(
      `${version} does not follow ${former}.`,
      'Choose a greater version: see docs/releases.md.',
    )
  if (run('git', 'status', '--porcelain') !== '')
    throw new UserError('There are uncommitted changes.', 'Commit or remove them first.')
  if (run('git', 'tag', '--list', `v${version}`) !== '')
    throw new UserError(`The tag v${version} exists.`, 'Choose another version.')
  const changes = read('CHANGELOG.md')
  if (!changes.includes('## Unreleased') || EMPTY_SECTION.test(changes))
    throw new UserError(
      'CHANGELOG.md has nothing under "Unreleased".',
      'Describe the changes that users see.',
    )
}

/** Replaces the version in each place that names it. @type {(version: string, former: string) => void} */
function setVersion(version, former) {
  const manifests = ['package.json', ...globSync('{packages,services,test}/*/package.json', { cwd: root })]
  for (const file of manifests)
    write(file, read(file).replace(`"version": "${former}"`, `"version": "${version}"`))
  const lock = JSON.parse(read('package-lock.json'))
  lock.version = version
  for (const [path, entry] of Object.entries(lock.packages))
    if (!path.includes('node_modules/') && entry.version === former) entry.version = version
  write('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)
  for (const file of [
    'deploy/Dockerfile',
    'docker-compose.yml',
    ...globSync('deploy/kubernetes/**/*.yaml', { cwd: root }),
  ])
    write(file, read(file).replaceAll(`gantry:${former}`, `gantry:${version}`))
  const kustomization = 'deploy/kubernetes/kustomization.yaml'
  write(kustomization, read(kustomization).replace(`newTag: ${former}`, `newTag: ${version}`))
  for (const chart of globSync('deploy/helm/*/Chart.yaml', { cwd: root }))
    write(chart, read(chart).replace(/^((?:appV|v)ersion: ["']?)[\d.]+/gm, `$1${version}`))
  const today = new Date().toISOString().slice(0, 10)
  write(
    'CHANGELOG.md',
    read('CHANGELOG.md').replace('## Unreleased\n', `## Unreleased\n\n## ${version} - ${today}\n`),
  )
}

/**
 * The packages in the image. npm lists those of all workspaces, and with --omit=dev it leaves out some that are installed.
 */
function billOfMaterials() {
  const bill = JSON.parse(run('npm', 'sbom', '--sbom-format=cyclonedx', '--package-lock-only'))
  /** @type {{ ref: string, dependsOn: string[] }[]} */
  const dependencies = bill.dependencies
  const dependsOn = new Map(dependencies.map(each => [each.ref, each.dependsOn]))
  const used = new Set()
  const use = (/** @type {string} */ ref) => {
    if (used.has(ref)) return
    used.add(ref)
    for (const other of dependsOn.get(ref) ?? []) use(other)
  }
  for (const file of globSync('{packages,services}/*/package.json', { cwd: root })) {
    const { name, version } = JSON.parse(read(file))
    use(`${name}@${version}`)
  }
  const isUsed = (/** @type {Record<string, string>} */ { ref, 'bom-ref': component }) =>
    used.has(ref ?? component)
  // npm takes the name of the folder.
  bill.metadata.component.name = 'gantry'
  return {
    ...bill,
    components: bill.components.filter(isUsed),
    dependencies: bill.dependencies.filter(isUsed),
  }
}

function release() {
  const [version = '', ...rest] = process.argv.slice(2)
  if (!/^(0|[1-9]\d{0,5})(\.(0|[1-9]\d{0,5})){2}$/.test(version) || rest.length > 0)
    throw new UserError('usage: npm run release -- MAJOR.MINOR.PATCH', 'See docs/releases.md.', 2)
  const former = JSON.parse(read('package.json')).version
  check(version, former)
  setVersion(version, former)
  mkdirSync(join(root, '.cache'), { recursive: true })
  const list = `.cache/gantry-${version}.cdx.json`
  write(list, `${JSON.stringify(billOfMaterials(), null, 2)}\n`)
  // Last, because the list can fail and a tag is not taken back.
  run('git', 'commit', '--all', '--quiet', '--message', `Release ${version}`)
  run('git', 'tag', '--annotate', `v${version}`, '--message', `Gantry ${version}`)
  console.log(`Gantry ${version} is committed and tagged as v${version}. Its packages are listed in ${list}.

To publish it:
  git push --follow-tags
  docker buildx build -f deploy/Dockerfile --platform linux/amd64,linux/arm64 \\
    --provenance=mode=max --sbom=true --tag REGISTRY/gantry:${version} --push .
  docker buildx imagetools inspect REGISTRY/gantry:${version}     its digest, for deploy/kubernetes and the chart`)
}

try {
  release()
} catch (error) {
  if (!(error instanceof UserError)) throw error
  console.error([error.message, error.advice].filter(Boolean).join('\n'))
  process.exitCode = error.exitCode
}
