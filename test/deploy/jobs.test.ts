import { expect, test } from 'vitest'
import { z } from 'zod'
import { textOf, yamlOf } from './src/files.ts'

const container = z.object({
  image: z.string(),
  command: z.array(z.string()),
  envFrom: z.tuple([z.strictObject({ secretRef: z.strictObject({ name: z.literal('gantry') }) })]),
  securityContext: z.object({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
  }),
})
const job = z.object({
  backoffLimit: z.literal(0),
  template: z.object({
    spec: z.object({
      restartPolicy: z.literal('Never'),
      securityContext: z.object({ runAsNonRoot: z.literal(true) }),
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
  const commands = textOf('packages/operations/src/main.ts')
  for (const one of [...initContainers, ...containers]) {
    expect(one.image).toBe(image())
    expect(one.command[0]).toBe('gantry')
    expect(commands).toMatch(new RegExp(`^  '?${one.command[1]}'?: \\{`, 'm'))
  }
})
