import { beforeAll, expect, test } from 'vitest'
import { type Admitted, admissionProgram, admit } from './src/admission.ts'
import { CASES } from './src/chart-values.ts'
import { chartsProgram, type Resource, render, resourcesIn } from './src/charts.ts'
import { textOf } from './src/files.ts'
import { kubernetesManifests, kustomized } from './src/kubernetes.ts'
import { KUBERNETES } from './src/schemas.ts'

/** Kinds of operators, which kubeconform validates in chart.test.ts. */
const OF_OPERATORS = ['ExternalSecret', 'HTTPRoute', 'PrometheusRule', 'ScaledObject', 'ServiceMonitor']

let program: string
let base: Resource[]
let admitted: Record<string, Admitted>
beforeAll(async () => {
  const [charts, admission] = [await chartsProgram(), await admissionProgram()]
  const text = kustomized()
  if (!charts || !admission || !text) throw new Error('needs Go and kubectl')
  program = admission
  base = resourcesIn(text)
  const rendered = Object.entries(await render(charts, CASES)).map(
    ([name, { resources }]) => [`chart ${name}`, resources] as const,
  )
  const manifests = Object.entries(kubernetesManifests()).map(
    ([name, yaml]) => [name, resourcesIn(yaml)] as const,
  )
  admitted = await admit(program, Object.fromEntries([...manifests, ...rendered]))
})

test('the API server accepts all manifests and all charts, and their pods fulfil the profile "restricted"', () => {
  const count = (kinds: readonly string[]) => kinds.length
  expect(Object.keys(admitted)).toEqual(
    expect.arrayContaining(['base', 'keda', 'engine-networks', 'jobs/reset.yaml', 'chart everything']),
  )
  for (const [name, { accepted, refused, warnings, unknown }] of Object.entries(admitted)) {
    expect([name, refused, warnings]).toEqual([name, [], []])
    expect(unknown.filter(kind => !OF_OPERATORS.includes(kind))).toEqual([])
    expect(count(accepted)).toBeGreaterThan(0)
    process.stderr.write(`Kubernetes ${KUBERNETES} accepts ${name}: ${count(accepted)} resources\n`)
  }
})

/** A change of a resource that makes it wrong, and the reason that the API server must give. */
const BROKEN: readonly (readonly [what: string, kind: string, (resource: Resource) => void, RegExp])[] = [
  ['a member that does not exist', 'Service', one => (one.spec.ports[0].nmae = 'x'), /unknown field/],
  [
    'a container with more rights',
    'Deployment',
    one => (one.spec.template.spec.containers[0].securityContext.allowPrivilegeEscalation = true),
    /violates PodSecurity "restricted:latest": allowPrivilegeEscalation/,
  ],
]

test.each(BROKEN)('refuses %s', async (_, kind, change, reason) => {
  const broken = structuredClone(base.find(one => one.kind === kind))
  if (!broken) throw new Error(`there is no ${kind}`)
  change(broken)
  const { broken: result } = await admit(program, { broken: [broken] })
  expect(result.accepted).toEqual([])
  expect(result.refused).toEqual([expect.stringMatching(reason)])
})

test('the rules are those of the version that the manual names', () => {
  expect(textOf('test/deploy/admission/go.mod')).toContain(`\tk8s.io/kubernetes v${KUBERNETES}\n`)
  expect(textOf('docs/operations.md').includes(`Kubernetes ${KUBERNETES}`)).toBe(true)
})
