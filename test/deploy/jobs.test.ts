import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { resourcesIn } from './src/charts.ts'
import { textOf, yamlOf } from './src/files.ts'

const container = z.object({
  image: z.string(),
  command: z.array(z.string()),
  envFrom: z.tuple([z.strictObject({ secretRef: z.strictObject({ name: z.literal('gantry') }) })]),
  securityContext: z.object({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.strictObject({ drop: z.tuple([z.literal('ALL')]) }),
  }),
})
const job = z.object({
  backoffLimit: z.literal(0),
  template: z.object({
    spec: z.object({
      restartPolicy: z.literal('Never'),
      automountServiceAccountToken: z.literal(false),
      securityContext: z.object({
        runAsNonRoot: z.literal(true),
        seccompProfile: z.strictObject({ type: z.literal('RuntimeDefault') }),
      }),
      initContainers: z.array(container).default([]),
      containers: z.array(container),
    }),
  }),
})
const image = () => {
  const [, name, tag] =
    /newName: (\S+)\n\s+newTag: (\S+)/.exec(textOf('deploy/kubernetes/kustomization.yaml')) ?? []
  return `${name}:${tag}`
}

test.each([
  ['reset', z.object({ kind: z.literal('Job'), spec: job }).transform(({ spec }) => spec)],
  [
    'check',
    z
      .object({ kind: z.literal('CronJob'), spec: z.object({ jobTemplate: z.object({ spec: job }) }) })
      .transform(({ spec }) => spec.jobTemplate.spec),
  ],
])('the job %s runs commands of the image of the services', (name, schema) => {
  const { initContainers, containers } = schema.parse(yamlOf(`deploy/kubernetes/jobs/${name}.yaml`)).template
    .spec
  const commands = textOf('services/operations/src/commands.ts')
  for (const one of [...initContainers, ...containers]) {
    expect(one.image).toBe(image())
    expect(one.command[0]).toBe('gantry')
    expect(commands).toMatch(new RegExp(`^  '?${one.command[1]}'?: \\{`, 'm'))
  }
})

describe('backups', () => {
  const containerIn = (path: string) => {
    const [job] = resourcesIn(textOf(`deploy/kubernetes/${path}`))
    return job?.spec.jobTemplate.spec.template.spec.containers[0]
  }
  const emptyFolder = () => {
    const folder = mkdtempSync(join(tmpdir(), 'gantry-jobs-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    return folder
  }
  const write = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  /** Runs the script of a container with folders in place of its volumes. */
  const run = (path: string, folder: string, environment: NodeJS.ProcessEnv) => {
    const [shell, flags, script] = containerIn(path).command
    const moved = script.replace(/(?<=[ =/])\/(data|backups|tmp)\b/g, `${folder}/$1`)
    execFileSync(shell, [flags, moved], { env: { PATH: process.env.PATH, ...environment } })
  }

  test('the images are copied by a command of the image of the services', () => {
    const { image: used, command } = containerIn('backups/images.yaml')
    expect(used).toBe(image())
    expect(command).toEqual(['gantry', 'copy-images', 'file:/backups/images'])
    expect(textOf('services/operations/src/commands.ts')).toContain(`'${command[1]}': {`)
  })

  test('the keys of users are dumped by the URL of the Secret, and deleted before they are 30 days old', () => {
    const folder = emptyFolder()
    for (const name of ['backups', 'tmp']) mkdirSync(join(folder, name))
    // Stands in for mongodump: its archive is its configuration.
    const stub = `#!/bin/sh
      for each; do case $each in
        --config=*) config=$(echo "$each" | cut -c10-) ;;
        --archive=*) cp "$config" "$(echo "$each" | cut -c11-)" ;;
      esac; done`
    write(join(folder, 'bin/mongodump'), stub)
    chmodSync(join(folder, 'bin/mongodump'), 0o755)
    const days = (count: number) => Date.now() / 1_000 - count * 86_400
    for (const [name, age] of [
      ['old', 29.1],
      ['young', 28.5],
    ] as const) {
      const path = join(folder, `backups/user-keys-${name}.gz`)
      write(path, name)
      utimesSync(path, days(age), days(age))
    }
    const USER_KEY_URL = 'mongodb://user:pass%24word@a,b/gantry-user-keys?tls=true'
    run('backups/user-keys.yaml', folder, { PATH: `${folder}/bin:${process.env.PATH}`, USER_KEY_URL })
    const [dump = '', ...others] = readdirSync(join(folder, 'backups')).toSorted()
    expect(dump).toMatch(/^user-keys-\d{8}T\d{6}Z\.gz$/)
    expect(others).toEqual(['user-keys-young.gz'])
    expect(readFileSync(join(folder, 'backups', dump), 'utf8')).toBe(`uri: "${USER_KEY_URL}"\n`)
  })

  test('the copy of the log has all files of the node', () => {
    const folder = emptyFolder()
    mkdirSync(join(folder, 'backups'))
    const files = ['chaser.chk', 'writer.chk', 'chunk-000000.000000', 'index/indexmap', 'index/filter/a.chk']
    for (const file of files) write(join(folder, 'data', file), file)
    run('jobs/backup-log.yaml', folder, {})
    const [backup = '', ...others] = readdirSync(join(folder, 'backups'))
    expect(others).toEqual([])
    expect(backup).toMatch(/^log-\d{8}T\d{6}Z$/)
    for (const file of files) expect(readFileSync(join(folder, 'backups', backup, file), 'utf8')).toBe(file)
  })
})
