import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { BlockList, isIP } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { ROOT, textOf } from './files.ts'

type Labels = Record<string, string>

const labels = z.record(z.string(), z.string()).default({})
const selector = z.strictObject({ matchLabels: labels })
/** Selects the pods of one or several services. */
const podSelector = z.strictObject({
  matchLabels: labels,
  matchExpressions: z
    .array(z.strictObject({ key: z.string(), operator: z.literal('In'), values: z.array(z.string()) }))
    .default([]),
})
/** Pods, pods of another namespace, or addresses. */
const peer = z.strictObject({
  podSelector: podSelector.optional(),
  namespaceSelector: selector.optional(),
  ipBlock: z.strictObject({ cidr: z.string(), except: z.array(z.string()).optional() }).optional(),
})
const ports = z.array(
  z.strictObject({ port: z.union([z.int(), z.string()]), protocol: z.enum(['TCP', 'UDP']) }),
)
const meta = z.object({
  name: z.string(),
  namespace: z.string().optional(),
  labels,
  annotations: labels,
})
const probe = z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) })

const Container = z.object({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()),
  ports: z.array(z.object({ name: z.string(), containerPort: z.int() })),
  env: z.array(
    z.strictObject({
      name: z.string(),
      valueFrom: z.strictObject({
        secretKeyRef: z.strictObject({
          name: z.string(),
          key: z.string(),
          optional: z.literal(true).optional(),
        }),
      }),
    }),
  ),
  envFrom: z.array(z.strictObject({ configMapRef: z.strictObject({ name: z.string() }) })),
  livenessProbe: probe,
  readinessProbe: probe,
  startupProbe: probe,
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
      ports: z.array(z.strictObject({ name: z.string(), port: z.int(), targetPort: z.string() })),
    }),
  }),
  PodDisruptionBudget: z.object({ spec: z.object({ maxUnavailable: z.int(), selector }) }),
  HorizontalPodAutoscaler: z.object({
    spec: z.object({
      scaleTargetRef: z.object({ kind: z.string(), name: z.string() }),
      minReplicas: z.int(),
      maxReplicas: z.int(),
      metrics: z.array(
        z.object({
          resource: z.object({ target: z.strictObject({ type: z.string(), averageValue: z.string() }) }),
        }),
      ),
      behavior: z.object({ scaleUp: z.object({ stabilizationWindowSeconds: z.int() }) }),
    }),
  }),
  ScaledObject: z.object({
    spec: z.object({
      scaleTargetRef: z.object({ name: z.string() }),
      triggers: z.array(z.object({ metadata: z.object({ query: z.string(), threshold: z.string() }) })),
    }),
  }),
  NetworkPolicy: z.object({
    spec: z.object({
      podSelector,
      ingress: z
        .array(z.strictObject({ from: z.array(peer).optional(), ports: ports.optional() }))
        .default([]),
      egress: z.array(z.strictObject({ to: z.array(peer).optional(), ports: ports.optional() })).default([]),
    }),
  }),
}
type Kind = keyof typeof kinds
type Resource<K extends Kind> = z.infer<(typeof kinds)[K]> & { metadata: z.infer<typeof meta> }

/** All combinations of labels that a selector accepts. */
export const wants = ({ matchLabels, matchExpressions }: z.infer<typeof podSelector>): Labels[] =>
  matchExpressions.reduce<Labels[]>(
    (all, { key, values }) => all.flatMap(one => values.map(value => ({ ...one, [key]: value }))),
    [matchLabels],
  )

/** The text that kustomize builds from a folder; undefined when kubectl is not installed. */
export function kustomized(folder = join(ROOT, 'deploy/kubernetes')): string | undefined {
  try {
    return execFileSync('kubectl', ['kustomize', folder], { encoding: 'utf8' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** A file of an operator in the comment of a component. */
const EXAMPLE = /^# {3}# ([\w-]+\.yaml)\n((?:# {3}.*\n)+)/gm

/**
 * Writes the files of an operator that the comment of a component shows: a kustomization, and the values of the component.
 * @param folder where `kustomized` builds them
 */
export function writeExample(
  folder: string,
  component: string,
  change: (example: string) => string = text => text,
): void {
  const at = (path: string) => relative(folder, join(ROOT, path))
  for (const [, name = '', text = ''] of textOf(`${component}/kustomization.yaml`).matchAll(EXAMPLE)) {
    const example = text.replace(/^# {3}/gm, '').replaceAll('../deploy/', `${at('deploy')}/`)
    writeFileSync(join(folder, name), change(example))
  }
}

/**
 * All manifests of deploy/kubernetes as YAML, by name: the base, the base with the example of each component, and the files
 * that are applied alone. kubectl is needed.
 */
export function kubernetesManifests(): Record<string, string> {
  const cwd = join(ROOT, 'deploy/kubernetes')
  const folder = mkdtempSync(join(tmpdir(), 'gantry-manifests-'))
  try {
    const manifests: Record<string, string> = { base: kustomized() ?? '' }
    for (const component of globSync('*/kustomization.yaml', { cwd }).map(dirname)) {
      writeExample(folder, `deploy/kubernetes/${component}`)
      manifests[component] = kustomized(folder) ?? ''
    }
    for (const file of globSync('jobs/*.yaml', { cwd })) manifests[file] = textOf(`deploy/kubernetes/${file}`)
    return manifests
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The manifests as kustomize builds them from a folder; undefined when kubectl is not installed. */
export function builtManifests(folder?: string) {
  const text = kustomized(folder)
  if (text === undefined) return undefined
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

type Policy = Resource<'NetworkPolicy'>
type Rule = { from?: z.infer<typeof peer>[]; to?: z.infer<typeof peer>[]; ports?: z.infer<typeof ports> }

/** A pod by its labels, any pod of another namespace by the namespace's name, or an address. */
export type End = { pod: Labels } | { namespace: string } | { address: string }

const selects = (selector: z.infer<typeof podSelector>, labels: Labels) =>
  wants(selector).some(wanted => matches(wanted, labels))

function isPeer({ podSelector, namespaceSelector, ipBlock }: z.infer<typeof peer>, end: End): boolean {
  if ('pod' in end) return podSelector !== undefined && !namespaceSelector && selects(podSelector, end.pod)
  if ('namespace' in end)
    return (
      namespaceSelector !== undefined &&
      matches(namespaceSelector.matchLabels, { 'kubernetes.io/metadata.name': end.namespace })
    )
  return (
    ipBlock !== undefined &&
    isIn(end.address, ipBlock.cidr) &&
    !ipBlock.except?.some(net => isIn(end.address, net))
  )
}

function isIn(address: string, network: string): boolean {
  const [base = '', prefix] = network.split('/')
  if (isIP(address) !== isIP(base)) return false
  const list = new BlockList()
  const family = isIP(base) === 6 ? 'ipv6' : 'ipv4'
  list.addSubnet(base, Number(prefix), family)
  return list.check(address, family)
}

/** Whether the policies of both ends allow a connection. Ends that are not pods of this namespace have no policies. */
export function isAllowed(policies: readonly Policy[], from: End, to: End, port: number | string): boolean {
  const letsThrough = (rules: readonly Rule[], side: 'from' | 'to', other: End) =>
    rules.some(
      rule =>
        (!rule[side] || rule[side].some(peer => isPeer(peer, other))) &&
        (!rule.ports || rule.ports.some(allowed => allowed.port === port)),
    )
  const of = (end: End) =>
    'pod' in end ? policies.filter(({ spec }) => selects(spec.podSelector, end.pod)) : undefined
  return (
    (of(from)?.some(({ spec }) => letsThrough(spec.egress, 'to', to)) ?? true) &&
    (of(to)?.some(({ spec }) => letsThrough(spec.ingress, 'from', from)) ?? true)
  )
}
