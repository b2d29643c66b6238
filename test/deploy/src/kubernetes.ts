import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { ROOT } from './files.ts'

type Labels = Record<string, string>

const labels = z.record(z.string(), z.string()).default({})
const selector = z.strictObject({ matchLabels: labels })
/** Of pods that may be several services. */
const podSelector = z.strictObject({
  matchLabels: labels,
  matchExpressions: z
    .array(z.strictObject({ key: z.string(), operator: z.literal('In'), values: z.array(z.string()) }))
    .default([]),
})
const meta = z.object({ name: z.string(), namespace: z.string().optional(), labels })
const probe = z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) })

const Container = z.object({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()),
  ports: z.array(z.object({ name: z.string(), containerPort: z.int() })),
  env: z.array(
    z.strictObject({
      name: z.string(),
      valueFrom: z.strictObject({ secretKeyRef: z.strictObject({ name: z.string(), key: z.string() }) }),
    }),
  ),
  envFrom: z.array(z.strictObject({ configMapRef: z.strictObject({ name: z.string() }) })),
  livenessProbe: probe,
  readinessProbe: probe,
  resources: z.object({
    requests: z.object({ cpu: z.string(), memory: z.string() }),
    limits: z.object({ memory: z.string() }),
  }),
  securityContext: z.object({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.object({ drop: z.tuple([z.literal('ALL')]) }),
  }),
  volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
})

const kinds = {
  Namespace: z.object({}),
  ConfigMap: z.object({ data: z.record(z.string(), z.string()) }),
  Deployment: z.object({
    spec: z.object({
      minReadySeconds: z.int().positive(),
      selector,
      strategy: z.object({ rollingUpdate: z.object({ maxUnavailable: z.literal(0) }) }),
      template: z.object({
        metadata: z.object({ labels, annotations: labels }),
        spec: z.object({
          automountServiceAccountToken: z.literal(false),
          enableServiceLinks: z.literal(false),
          terminationGracePeriodSeconds: z.int(),
          securityContext: z.object({
            runAsNonRoot: z.literal(true),
            runAsUser: z.int().positive(),
            seccompProfile: z.object({ type: z.literal('RuntimeDefault') }),
          }),
          containers: z.tuple([Container]),
          volumes: z.array(z.object({ name: z.string() })),
        }),
      }),
    }),
  }),
  Service: z.object({
    spec: z.object({
      clusterIP: z.string().optional(),
      publishNotReadyAddresses: z.boolean().optional(),
      selector: labels,
      ports: z.array(z.object({ port: z.int(), targetPort: z.string() })),
    }),
  }),
  PodDisruptionBudget: z.object({ spec: z.object({ maxUnavailable: z.int(), selector }) }),
  HorizontalPodAutoscaler: z.object({
    spec: z.object({
      scaleTargetRef: z.object({ kind: z.string(), name: z.string() }),
      minReplicas: z.int(),
      maxReplicas: z.int(),
    }),
  }),
  NetworkPolicy: z.object({
    spec: z.object({
      podSelector,
      ingress: z
        .array(z.object({ from: z.array(z.object({ podSelector: podSelector.optional() })).optional() }))
        .default([]),
      egress: z
        .array(z.object({ to: z.array(z.object({ podSelector: podSelector.optional() })).optional() }))
        .default([]),
    }),
  }),
}
type Kind = keyof typeof kinds
type Resource<K extends Kind> = z.infer<(typeof kinds)[K]> & { metadata: z.infer<typeof meta> }

/** Each way in which labels may be for the selector to find them: one for every combination of what it allows. */
export const wants = ({ matchLabels, matchExpressions }: z.infer<typeof podSelector>): Labels[] =>
  matchExpressions.reduce<Labels[]>(
    (all, { key, values }) => all.flatMap(one => values.map(value => ({ ...one, [key]: value }))),
    [matchLabels],
  )

/** The manifests as kustomize builds them; undefined where there is no kubectl. */
export function builtManifests() {
  let text: string
  try {
    text = execFileSync('kubectl', ['kustomize', join(ROOT, 'deploy/kubernetes')], { encoding: 'utf8' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const documents = parseAllDocuments(text).map(document => document.toJS() as { kind: Kind })
  const known = documents.map(document => {
    const { metadata } = z.object({ metadata: meta }).parse(document)
    return { kind: document.kind, ...kinds[document.kind].parse(document), metadata }
  })
  return {
    kinds: new Set(documents.map(({ kind }) => kind as string)),
    of: <K extends Kind>(kind: K) => known.filter(one => one.kind === kind) as unknown as Resource<K>[],
  }
}

export const matches = (wanted: Labels, given: Labels) =>
  Object.entries(wanted).every(([name, value]) => given[name] === value)
