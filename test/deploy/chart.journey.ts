import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onPath } from '@gantry/engines'
import { readSettings } from '@gantry/service-runtime'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { CASES, REFUSED } from './src/chart-values.ts'
import {
  byName,
  chartsProgram,
  type Rendered,
  type Resource,
  render,
  resourcesIn,
  validate,
} from './src/charts.ts'
import { ROOT, textOf, yamlOf } from './src/files.ts'
import { RUN } from './src/image.ts'
import { kubernetesManifests, kustomized, matches } from './src/kubernetes.ts'
import { PROCESSES, SETTINGS, unread } from './src/settings.ts'

const AWS_KEYS = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN']

/** Valid values of secrets. */
const SECRETS: Record<string, string> = {
  ENCRYPTION_KEY: '00'.repeat(32),
  PRINCIPAL_KEY: '01'.repeat(32),
  EVENT_STORE_URL: 'esdb://a:2113',
  READ_MODEL_URL: 'mongodb://a/gantry',
  USER_KEY_URL: 'mongodb://a/keys',
  BLOB_URL: 'mongodb://a/images',
  MESSAGING_URL: 'tls://a:4222',
}

interface Environment {
  name: string
  value?: string
  valueFrom?: { secretKeyRef: { name: string; key: string; optional?: true } }
}

const program = await chartsProgram()
const skipped = 'needs Go to compile the renderer of Helm charts'
if (!program && (await onPath('go'))) throw new Error('the renderer of Helm charts could not be compiled')

describe.skipIf(!program)('the chart', { meta: { skipped } }, () => {
  let rendered: Record<string, Rendered>
  /** Everything in another namespace. */
  let elsewhere: Rendered
  beforeAll(async () => {
    elsewhere = (await render(program ?? '', { everything: CASES.everything }, 'management')).everything
    rendered = await render(program ?? '', {
      ...CASES,
      ...Object.fromEntries(REFUSED.map(([, values], at) => [at, values])),
    })
  })
  const resourcesOf = (values: keyof typeof CASES, kind?: string) =>
    (rendered[values]?.resources ?? []).filter(one => kind === undefined || one.kind === kind)
  const named = (values: keyof typeof CASES, kind: string, name: string): Resource => {
    const found = resourcesOf(values, kind).find(one => one.metadata.name === name)
    if (!found) throw new Error(`there is no ${kind} ${name}`)
    return found
  }
  const podOf = (values: keyof typeof CASES, name: string): Resource =>
    name === 'rebuild'
      ? named(values, 'Job', name).spec.template
      : named(values, 'Deployment', name).spec.template
  const environmentOf = (values: keyof typeof CASES, name: string): Environment[] =>
    podOf(values, name).spec.containers[0].env
  /** The environment of a container with values of secrets, without those that are optional. */
  const filled = (environment: Environment[], secrets: Record<string, string> = SECRETS) =>
    Object.fromEntries(
      environment
        .filter(({ valueFrom }) => !valueFrom?.secretKeyRef.optional)
        .map(({ name, value }) => [name, value ?? secrets[name] ?? 'a secret value']),
    )

  test.each(Object.keys(CASES) as (keyof typeof CASES)[])(
    'conforms to the schemas of Kubernetes and of the operators: %s',
    values => {
      const { refused, invalid, unchecked, resources } = rendered[values] ?? {}
      expect({ refused, invalid, unchecked }).toEqual({ refused: undefined, invalid: [], unchecked: [] })
      expect(resources?.length).toBeGreaterThan(15)
    },
  )

  test.each(REFUSED.map(([named], at) => [named, at] as const))('refuses a wrong value: %s', (named, at) => {
    expect(rendered[at]?.refused).toContain(named)
  })

  test('names its own namespace alone', () => {
    const namespaces = new Set(elsewhere.resources.map(({ metadata }) => metadata.namespace))
    expect(namespaces).toEqual(new Set(['management']))
    expect(JSON.stringify(elsewhere.resources)).not.toMatch(/namespace\W+gantry\b/)
  })

  test('runs the image as the journey of upgrades does', () => {
    for (const name of PROCESSES) {
      const [container] = podOf('defaults', name).spec.containers
      expect([container.command, container.args]).toEqual([undefined, RUN.process(name)])
    }
    expect(podOf('defaults', 'rebuild').spec.containers[0].command).toEqual(RUN.beforeServices)
    expect(podOf('defaults', 'gateway').spec.initContainers[0].command).toEqual(RUN.beforeGateway)
  })

  const base = kustomized()
  test.skipIf(!base)(
    'the manifests of kustomize conform as well, and name their namespace',
    { meta: { skipped: 'needs kubectl' } },
    async () => {
      const manifests = kubernetesManifests()
      const results = await validate(program ?? '', manifests)
      for (const [name, { invalid, unchecked }] of Object.entries(results))
        expect([name, invalid, unchecked]).toEqual([name, [], []])
      const anywhere = Object.values(manifests)
        .flatMap(resourcesIn)
        .filter(({ kind, metadata }) => kind !== 'Namespace' && !metadata.namespace)
      expect(anywhere.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([])
    },
  )

  test.skipIf(!base)('is by default what kustomize builds', { meta: { skipped: 'needs kubectl' } }, () => {
    const built = resourcesIn(base ?? '')
    const configMaps = built.filter(({ kind }) => kind === 'ConfigMap')
    const expected = built.filter(({ kind }) => !['ConfigMap', 'Namespace'].includes(kind))
    const wanted = expected.map(one => comparable(one, configMaps))
    const given = resourcesOf('defaults')
      .filter(({ kind }) => kind !== 'Job')
      .map(one => comparable(one, []))
    expect(byName(given)).toEqual(byName(wanted))
  })

  /** The settings that a process reads, as of its environment. */
  const settingsOf = (values: keyof typeof CASES, name: string) => {
    const settings = SETTINGS[name]
    if (!settings) throw new Error(`${name} has no settings`)
    const { NATS_CA_FILE: _, ...given } = filled(environmentOf(values, name))
    return readSettings(settings, given) as Record<string, number>
  }

  test.each(['everything', 'basePath'] as const)(
    'gives every process valid settings, and the time to stop: %s',
    values => {
      for (const name of PROCESSES) {
        const names = environmentOf(values, name).map(one => one.name)
        expect([name, unread(name, names)]).toEqual([name, []])
        expect(new Set(names).size).toBe(names.length)
        const { SHUTDOWN_DELAY = Number.NaN, SHUTDOWN_TIMEOUT = Number.NaN } = settingsOf(values, name)
        const seconds = podOf(values, name).spec.terminationGracePeriodSeconds
        expect(seconds * 1_000).toBeGreaterThanOrEqual(SHUTDOWN_DELAY + SHUTDOWN_TIMEOUT + 3_000)
      }
    },
  )

  test('writes large numbers as they are, and settings of one process to it alone', () => {
    expect(filled(environmentOf('everything', 'catalog'))).toMatchObject({
      MAX_VERSIONS_PER_API: '1000000',
      LOG_LEVEL: 'warn',
    })
    expect(filled(environmentOf('everything', 'gateway'))).toMatchObject({
      LOG_LEVEL: 'debug',
      PUBLIC_URL: 'https://gantry.example.com',
    })
    expect(filled(environmentOf('everything', 'media'))).not.toHaveProperty('PUBLIC_URL')
  })

  test.each(['basePath', 'basePathWithSlash'] as const)(
    'prefixes the paths of probes, metrics and clients with BASE_PATH: %s',
    values => {
      const { containers } = podOf(values, 'catalog').spec
      expect(containers[0].startupProbe.httpGet.path).toBe('/manage/health/live')
      expect(containers[0].livenessProbe.httpGet.path).toBe('/manage/health/live')
      expect(containers[0].readinessProbe.httpGet.path).toBe('/manage/health/ready')
      const [monitor] = resourcesOf(values, 'ServiceMonitor')
      expect(monitor?.spec.endpoints[0].path).toBe('/manage/metrics')
      const [ingress] = resourcesOf(values, 'Ingress')
      expect(ingress?.spec.rules[0].http.paths.map((one: Resource) => one.path)).toEqual([
        '/manage',
        '/manage/health',
      ])
      const [route] = resourcesOf(values, 'HTTPRoute')
      expect(route?.spec.rules.map((one: Resource) => one.matches[0].path.value)).toEqual([
        '/manage/health',
        '/manage',
      ])
    },
  )

  test('gives containers no more rights than the profile "restricted", with any values', () => {
    const containerRights = {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    }
    for (const values of Object.keys(CASES) as (keyof typeof CASES)[]) {
      const users = values === 'openshift' ? {} : { runAsUser: 1000, runAsGroup: 1000 }
      const podRights = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' }, ...users }
      const owners = [...resourcesOf(values, 'Deployment'), ...resourcesOf(values, 'Job')]
      for (const { spec } of owners.map(one => one.spec.template)) {
        expect(spec.securityContext).toEqual(podRights)
        for (const container of [...(spec.initContainers ?? []), ...spec.containers])
          expect(container.securityContext).toEqual(containerRights)
        for (const volume of spec.volumes.filter((one: Resource) => one.emptyDir))
          expect(volume.emptyDir.sizeLimit).toBeDefined()
      }
    }
  })

  describe('with Secrets per process', () => {
    const keys = (values: keyof typeof CASES, name: string) =>
      environmentOf(values, name).flatMap(({ valueFrom }) => (valueFrom ? [valueFrom.secretKeyRef] : []))

    test('each process reads its own Secret only, and the external store fills all of them', () => {
      for (const name of [...PROCESSES, 'rebuild']) {
        const secret = `gantry-${name === 'rebuild' ? 'operator' : name}`
        const refs = keys('perProcess', name)
        expect(new Set(refs.map(ref => ref.name))).toEqual(new Set([secret]))
        const external = named('perProcess', 'ExternalSecret', secret)
        expect(external.spec.target.name).toBe(secret)
        expect(external.spec.data.map((one: Resource) => one.secretKey)).toEqual(
          refs.flatMap(ref => (ref.optional ? [] : ref.key)).toSorted(),
        )
      }
      expect(
        keys('perProcess', 'gateway')
          .map(ref => ref.key)
          .toSorted(),
      ).toEqual(['GATEWAY_NATS_PASSWORD', 'MESSAGING_URL', 'PRINCIPAL_KEY'])
    })

    test('each process has the user of NATS that deploy/nats has for it', () => {
      const users = textOf('deploy/nats/nats-server.conf')
      for (const name of PROCESSES) {
        expect(filled(environmentOf('perProcess', name)).NATS_USER).toBe(name)
        expect(users).toContain(`$${name.toUpperCase()}_NATS_PASSWORD`)
      }
      expect(filled(environmentOf('perProcess', 'rebuild')).NATS_USER).toBe('operator')
      expect(users).toContain('$OPERATOR_NATS_PASSWORD')
    })
  })

  test('one Secret from the external store has the keys of all processes', () => {
    const [external, ...others] = resourcesOf('everything', 'ExternalSecret')
    expect(others).toEqual([])
    const used = PROCESSES.flatMap(name => environmentOf('everything', name)).flatMap(({ valueFrom }) =>
      valueFrom && !valueFrom.secretKeyRef.optional ? valueFrom.secretKeyRef.key : [],
    )
    const offered = external?.spec.data.map((one: Resource) => one.secretKey)
    expect(offered).toEqual(expect.arrayContaining(used))
    expect(new Set(offered).size).toBe(offered.length)
  })

  test('media reads the store of images from its Secret, unless a value or a listed key replaces it', () => {
    const optional = (values: keyof typeof CASES) =>
      environmentOf(values, 'media').flatMap(({ name, valueFrom }) =>
        valueFrom?.secretKeyRef.optional ? name : [],
      )
    const all = ['BLOB_URL', 'AWS_REGION', 'AWS_ENDPOINT_URL_S3'].concat(AWS_KEYS)
    expect(optional('defaults').toSorted()).toEqual(all.toSorted())
    expect(optional('everything').toSorted()).toEqual(AWS_KEYS)
    expect(filled(environmentOf('everything', 'media'))).toMatchObject({ AWS_REGION: 'eu-west-1' })
    const names = environmentOf('everything', 'rebuild').map(one => one.name)
    expect(new Set(names).size).toBe(names.length)
  })

  test('processes listen on IPv6 addresses, and Services have them', () => {
    for (const name of [...PROCESSES, 'rebuild']) expect(filled(environmentOf('ipv6', name)).HOST).toBe('::')
    for (const { spec } of resourcesOf('ipv6', 'Service')) expect(spec.ipFamilyPolicy).toBe('PreferDualStack')
  })

  test('a fixed number of replicas needs no autoscaler', () => {
    expect(resourcesOf('fixedReplicas', 'HorizontalPodAutoscaler')).toEqual([])
    expect(named('fixedReplicas', 'Deployment', 'catalog').spec.replicas).toBe(3)
    expect(named('defaults', 'Deployment', 'catalog').spec).not.toHaveProperty('replicas')
    expect(named('fixedReplicas', 'Deployment', 'catalog').spec.template.spec).not.toHaveProperty(
      'initContainers',
    )
    expect(podOf('fixedReplicas', 'gateway').spec).not.toHaveProperty('initContainers')
    expect(resourcesOf('fixedReplicas', 'Job')).toEqual([])
  })

  test('KEDA scales the notifier instead of an autoscaler, by the metrics of the namespace', () => {
    const scalers = resourcesOf('everything', 'HorizontalPodAutoscaler').map(one => one.metadata.name)
    expect(scalers.toSorted()).toEqual(['catalog', 'gateway', 'identity', 'media'])
    const { spec } = named('everything', 'ScaledObject', 'notifier')
    const { spec: base } = yamlOf('deploy/kubernetes/keda/notifier.yaml') as Resource
    expect(base.triggers.length).toBeGreaterThan(0)
    const triggersIn = (namespace: string) =>
      base.triggers.map((one: Resource) => ({
        ...one,
        metadata: {
          ...one.metadata,
          serverAddress: 'http://prometheus.prometheus:9090',
          query: one.metadata.query.replaceAll('namespace="gantry"', `namespace="${namespace}"`),
        },
      }))
    expect(spec).toEqual({ ...base, triggers: triggersIn('gantry') })
    const other = elsewhere.resources.find(({ kind }) => kind === 'ScaledObject')
    expect(other?.spec.triggers).toEqual(triggersIn('management'))
  })

  test('the rules of Prometheus are those of deploy/monitoring, and its monitor finds the metrics of all processes', () => {
    const [unchanged] = resourcesOf('basePath', 'PrometheusRule')
    expect(unchanged?.spec).toEqual(yamlOf('deploy/monitoring/alerts.yaml'))
    const published = textOf('deploy/monitoring/alerts.yaml').replaceAll(
      'https://gantry.example.com/runbooks/',
      'https://wiki.example.com/gantry/',
    )
    const [rule] = resourcesOf('everything', 'PrometheusRule')
    expect(rule?.spec).toEqual(parse(published))
    const [monitor] = resourcesOf('everything', 'ServiceMonitor')
    const { selector, endpoints } = monitor?.spec ?? {}
    const found = resourcesOf('everything', 'Service').filter(
      ({ metadata, spec }) =>
        matches(selector.matchLabels, metadata.labels) &&
        spec.ports.some((one: Resource) => one.name === endpoints[0].port),
    )
    expect(found.map(({ spec }) => spec.selector['app.kubernetes.io/name']).toSorted()).toEqual(
      PROCESSES.toSorted(),
    )
    expect(podOf('everything', 'catalog').metadata.annotations).not.toHaveProperty('prometheus.io/scrape')
    const [dashboard] = resourcesOf('everything', 'ConfigMap')
    expect(JSON.parse(dashboard?.data['gantry.json'])).toEqual(
      JSON.parse(textOf('deploy/monitoring/dashboard.json')),
    )
  })

  test('clients reach the gateway, and no health check', () => {
    const [ingress] = resourcesOf('everything', 'Ingress')
    const [all, health] = ingress?.spec.rules[0].http.paths ?? []
    expect([all.path, all.backend.service.name]).toEqual(['/', 'gateway'])
    expect(health.path).toBe('/health')
    const { selector } = named('everything', 'Service', health.backend.service.name).spec
    for (const name of [...PROCESSES, 'rebuild'])
      expect(matches(selector, podOf('everything', name).metadata.labels)).toBe(false)
    const [route] = resourcesOf('everything', 'HTTPRoute')
    const rules = route?.spec.rules.map((one: Resource) => [
      one.matches[0].path.value,
      one.backendRefs?.[0].name,
    ])
    expect(rules).toEqual([
      ['/health', undefined],
      ['/', 'gateway'],
    ])
  })

  test('network policies allow the networks of stores and webhooks that the values name', () => {
    const { egress: stores } = named('everything', 'NetworkPolicy', 'stores').spec
    expect(stores.map((one: Resource) => one.to[0].ipBlock.cidr)).toEqual(['10.20.1.0/24', '10.20.2.0/24'])
    const { egress: bus } = named('everything', 'NetworkPolicy', 'names-and-bus').spec
    expect(bus[0]).not.toHaveProperty('to')
    expect(bus[1].to[0].namespaceSelector.matchLabels).toEqual({ 'kubernetes.io/metadata.name': 'nats' })
    const { egress: webhooks } = named('everything', 'NetworkPolicy', 'webhooks').spec
    expect(webhooks[0].to.slice(2).map((one: Resource) => one.ipBlock.cidr)).toEqual([
      '10.1.0.0/16',
      'fd00::/8',
    ])
    const { ingress } = named('everything', 'NetworkPolicy', 'from-monitoring').spec
    expect(ingress[0].from[0].namespaceSelector.matchLabels).toEqual({
      'kubernetes.io/metadata.name': 'prometheus',
    })
  })

  test('network policies allow the port of the S3 store of images and of audit logs', () => {
    const egress = (values: Parameters<typeof named>[0], name: string) =>
      named(values, 'NetworkPolicy', name).spec.egress
    const tcp = (port: number) => ({ port, protocol: 'TCP' })
    const [{ to, ports }] = egress('everything', 'images-in-s3')
    expect(to[0].namespaceSelector.matchLabels).toEqual({ 'kubernetes.io/metadata.name': 's3' })
    expect(ports).toEqual([tcp(9000)])
    expect(egress('perProcess', 'images-in-s3')).toEqual([{ ports: [tcp(443)] }])
    expect(egress('perProcess', 'keys-of-the-platform')).toEqual([{ ports: [tcp(443), tcp(8443)] }])
    const names = resourcesOf('defaults', 'NetworkPolicy').map(({ metadata }) => metadata.name)
    expect(names).not.toContain('images-in-s3')
  })

  test('the Job before an upgrade may reach the stores and the bus, and receives nothing of Services', () => {
    const { labels } = podOf('defaults', 'rebuild').metadata
    for (const name of ['stores', 'names-and-bus'])
      expect(matches(named('defaults', 'NetworkPolicy', name).spec.podSelector.matchLabels, labels)).toBe(
        true,
      )
    for (const { spec } of resourcesOf('defaults', 'Service'))
      expect(matches(spec.selector, labels)).toBe(false)
    expect(named('defaults', 'Job', 'rebuild').metadata.annotations['helm.sh/hook']).toBe('pre-upgrade')
  })

  test('the Job makes the read models with its environment', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gantry-chart-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const stores = {
      ...SECRETS,
      EVENT_STORE_URL: `sqlite:${join(folder, 'events.db')}`,
      READ_MODEL_URL: `sqlite:${join(folder, 'read-models.db')}`,
      MESSAGING_URL: `sqlite:${join(folder, 'messages.db')}`,
      BLOB_URL: `file:${join(folder, 'images')}`,
    }
    const [{ command, env }] = podOf('defaults', 'rebuild').spec.containers
    const args = [join(ROOT, 'services/operations/src/main.ts'), ...command.slice(1)]
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      env: { BLOB_URL: stores.BLOB_URL, ...filled(env, stores) },
    })
    expect(stdout).toMatch(/All read models exist\n$/)
  })

  test('its Job becomes those of a restore by the replacements in the manual', () => {
    expect(textOf('docs/operations.md')).toContain(
      's/^  name: rebuild$/  name: gantry-$1/; s/- rebuild$/- $1/; s/- --new$/$2/',
    )
    const { metadata, spec } = named('perProcess', 'Job', 'rebuild')
    expect(metadata.name).toBe('rebuild')
    expect(spec.template.spec.containers[0].command).toEqual(['gantry', 'rebuild', '--new'])
  })

  test('new gateways wait for the services with the command of the image', () => {
    const [wait] = podOf('everything', 'gateway').spec.initContainers
    expect(wait.command).toEqual(['gantry', 'await-services'])
    const names = ['CATALOG_URL', 'IDENTITY_URL', 'MEDIA_URL', 'NOTIFIER_URL']
    expect(wait.env.map((one: Environment) => one.name)).toEqual(names)
    expect(wait.image).toBe(podOf('everything', 'gateway').spec.containers[0].image)
  })

  test('a file with authorities is mounted where the settings name it', () => {
    const { containers, volumes } = podOf('everything', 'catalog').spec
    const { ca } = Object.fromEntries(volumes.map((one: Resource) => [one.name, one]))
    expect(ca.configMap).toEqual({ name: 'authorities', items: [{ key: 'ca.crt', path: 'ca.crt' }] })
    const [mount] = containers[0].volumeMounts.filter((one: Resource) => one.name === 'ca')
    expect(filled(environmentOf('everything', 'catalog')).NATS_CA_FILE).toBe(`${mount.mountPath}/ca.crt`)
    expect(filled(environmentOf('perProcess', 'catalog')).NODE_EXTRA_CA_CERTS).toBe('/etc/gantry/ca/ca.crt')
  })
})

/** What a Deployment, Service, … is, whatever the tool that made it: with all settings in the container, without labels of Helm. */
function comparable(resource: Resource, configMaps: readonly Resource[]): Resource {
  const copy = structuredClone(resource)
  const { 'app.kubernetes.io/part-of': part } = copy.metadata.labels
  copy.metadata.labels = { part }
  if (copy.kind !== 'Deployment') return copy
  const pod = copy.spec.template.spec
  // The order of the rollout, which kustomize cannot keep.
  delete pod.initContainers
  const [container] = pod.containers
  const settings = (container.envFrom ?? []).map(
    (from: Resource) => configMaps.find(one => one.metadata.name === from.configMapRef.name)?.data,
  )
  delete container.envFrom
  const own = container.env.map(({ name, value, valueFrom }: Environment) => [name, value ?? valueFrom])
  const all = Object.entries({ ...Object.assign({}, ...settings), ...Object.fromEntries(own) })
  container.env = Object.fromEntries(all.filter(([, value]) => value !== ''))
  return copy
}
