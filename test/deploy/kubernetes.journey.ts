import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ProcessSettings, shutdownMs } from '@gantry/hosting'
import { readSettings } from '@gantry/service-runtime'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { textOf, yamlOf } from './src/files.ts'
import { instructions } from './src/image.ts'
import { builtManifests, type End, isAllowed, matches, wants, writeExample } from './src/kubernetes.ts'
import { PROCESSES, SETTINGS, unread } from './src/settings.ts'

const built = builtManifests()
const skipped = 'needs kubectl to build the manifests'

/** Valid values of the secrets that every installation has. */
const SECRETS: NodeJS.ProcessEnv = {
  ENCRYPTION_KEY: '00'.repeat(32),
  PRINCIPAL_KEY: '01'.repeat(32),
  GANTRY_ADMIN_PASSWORD: 'a password for tests',
  EVENT_STORE_URL: 'esdb://user:password@a:2113,b:2113?nodePreference=leader',
  READ_MODEL_URL: 'mongodb://user:password@a,b/gantry?replicaSet=rs0&tls=true',
  MESSAGING_URL: 'tls://user:password@a:4222,tls://b:4222',
}

/** Valid values of the keys that the Secret may have as well. */
const OPTIONAL: NodeJS.ProcessEnv = {
  BLOB_URL: 's3://bucket/prefix',
  AWS_REGION: 'eu-central-1',
  AWS_ENDPOINT_URL_S3: 'https://store.example.com',
  AWS_ACCESS_KEY_ID: 'an id',
  AWS_SECRET_ACCESS_KEY: 'a key',
  AWS_SESSION_TOKEN: 'a token',
}

describe.skipIf(!built)('the manifests', { meta: { skipped } }, () => {
  const { of, kinds } = built ?? { of: () => [], kinds: new Set() }
  const deployments = of('Deployment')
  const pods = deployments.map(({ spec }) => spec.template.metadata.labels)
  const configMaps = new Map(of('ConfigMap').map(({ metadata, data }) => [metadata.name, data]))
  const deployment = (name: string) => {
    const found = deployments.find(({ metadata }) => metadata.name === name)
    if (!found) throw new Error(`there is no Deployment ${name}`)
    const { spec } = found
    return { ...spec, pod: spec.template.spec, container: spec.template.spec.containers[0] }
  }
  const configOf = (name: string) =>
    deployment(name).container.envFrom.map(({ configMapRef }) => {
      const data = configMaps.get(configMapRef.name)
      if (!data) throw new Error(`there is no ConfigMap ${configMapRef.name}`)
      return data
    })

  /** The settings of the process from its configuration and its secrets. */
  const settingsOf = (name: string, given = SECRETS) => {
    const secrets = deployment(name).container.env.map(one => [one.name, given[one.name]])
    const schema = SETTINGS[name]
    if (!schema) throw new Error(`${name} has no settings`)
    return readSettings(schema, { ...Object.assign({}, ...configOf(name)), ...Object.fromEntries(secrets) })
  }

  test('deploy the five services in one namespace and contain no secret', () => {
    expect(deployments.map(({ metadata }) => metadata.name).sort()).toEqual([...PROCESSES].sort())
    expect(new Set(of('Deployment').map(({ metadata }) => metadata.namespace))).toEqual(new Set(['gantry']))
    expect(kinds).not.toContain('Secret')
  })

  describe.each(PROCESSES)('%s', name => {
    test('is started by its argument, not as root, from an image with a pinned version', () => {
      const { pod, container } = deployment(name)
      expect(container.args).toEqual([name])
      expect(container.image).toMatch(/:\d+\.\d+\.\d+$/)
      expect(String(pod.securityContext.runAsUser)).toBe(instructions('USER')[0]?.split(':')[0])
    })

    test('is selected by its Service, its disruption budget and its autoscaler', () => {
      const { selector, template } = deployment(name)
      expect(matches(selector.matchLabels, template.metadata.labels)).toBe(true)
      expect(pods.filter(labels => matches(selector.matchLabels, labels))).toHaveLength(1)
      const service = of('Service').find(({ metadata }) => metadata.name === name)
      expect(service?.spec.selector).toEqual(selector.matchLabels)
      const budget = of('PodDisruptionBudget').find(({ metadata }) => metadata.name === name)
      expect(budget?.spec.selector).toEqual(selector)
      const scaler = of('HorizontalPodAutoscaler').find(({ metadata }) => metadata.name === name)
      expect(scaler?.spec.scaleTargetRef).toMatchObject({ kind: 'Deployment', name })
      expect(scaler?.spec.minReplicas).toBeGreaterThan(1)
      // One of two replicas that uses its whole core, e.g. for a rebuild, is below the target.
      const target = { type: 'AverageValue', averageValue: '700m' }
      expect(scaler?.spec.metrics.map(({ resource }) => resource.target)).toEqual([target])
      expect(scaler?.spec.behavior.scaleUp.stabilizationWindowSeconds).toBeGreaterThan(60)
    })

    test('has probes and metrics at the ports of its container', () => {
      const { container, template } = deployment(name)
      expect(container.ports).toEqual([
        { name: 'http', containerPort: 8080 },
        { name: 'internal', containerPort: 8081 },
      ])
      expect(container.livenessProbe.httpGet).toEqual({ path: '/health/live', port: 'http' })
      expect(container.readinessProbe.httpGet).toEqual({ path: '/health/ready', port: 'http' })
      // A process listens at once, so only one that hangs during its start is restarted.
      expect(container.startupProbe.httpGet).toEqual({ path: '/health/live', port: 'http' })
      expect(template.metadata.annotations).toEqual({
        'prometheus.io/scrape': 'true',
        'prometheus.io/port': '8081',
        'prometheus.io/path': '/metrics',
      })
    })

    test('listens at the ports of its container', () => {
      const { PORT, INTERNAL_PORT, METRICS_PORT } = settingsOf(name) as Record<string, number | undefined>
      const ports = deployment(name).container.ports.map(port => port.containerPort)
      expect([PORT, INTERNAL_PORT ?? METRICS_PORT]).toEqual(ports)
    })

    test('has a Service with the ports that others use', () => {
      const service = of('Service').find(({ metadata }) => metadata.name === name)
      const internal = { name: 'internal', port: 8081, targetPort: 'internal' }
      expect(service?.spec.ports).toEqual(
        name === 'gateway'
          ? [{ name: 'http', port: 80, targetPort: 'http' }]
          : [{ name: 'http', port: 8080, targetPort: 'http' }, internal],
      )
    })

    test('gets only its own settings, and all required ones', () => {
      const { env } = deployment(name).container
      const config = Object.assign({}, ...configOf(name)) as NodeJS.ProcessEnv
      expect(unread(name, [...Object.keys(config), ...env.map(one => one.name)])).toEqual([])
      for (const { name: setting, valueFrom } of env)
        expect(valueFrom.secretKeyRef).toEqual({
          name: 'gantry',
          key: setting,
          ...(setting in OPTIONAL && { optional: true }),
        })
      expect(() => settingsOf(name)).not.toThrow()
    })

    test('gets only the secrets that it needs', () => {
      const own = { identity: ['GANTRY_ADMIN_PASSWORD'], media: Object.keys(OPTIONAL) }[name] ?? []
      const sealed = name === 'gateway' ? [] : ['ENCRYPTION_KEY', 'EVENT_STORE_URL', 'READ_MODEL_URL']
      expect(
        deployment(name)
          .container.env.map(one => one.name)
          .toSorted(),
      ).toEqual(['MESSAGING_URL', 'PRINCIPAL_KEY', ...own, ...sealed].toSorted())
    })

    test('has enough time to drain and exit', () => {
      const settings = settingsOf(name) as ProcessSettings
      const ms = shutdownMs(settings)
      const grace = deployment(name).pod.terminationGracePeriodSeconds * 1_000
      expect(grace).toBeGreaterThan(ms)
      // A process that hangs is killed soon afterwards.
      expect(grace).toBeLessThan(ms + 10_000)
      // SHUTDOWN_TIMEOUT begins after the delay, so that most of the time is for requests.
      expect(settings.SHUTDOWN_DELAY).toBeLessThanOrEqual(settings.SHUTDOWN_TIMEOUT / 2)
    })

    test('mounts only volumes that exist', () => {
      const { pod, container } = deployment(name)
      const volumes = pod.volumes.map(volume => volume.name)
      expect(container.volumeMounts.map(mount => mount.name)).toEqual(volumes)
    })
  })

  test('media stores images where the Secret says', () => {
    expect(settingsOf('media')).toMatchObject({ BLOB_URL: undefined })
    expect(settingsOf('media', { ...SECRETS, ...OPTIONAL })).toMatchObject(OPTIONAL)
    const manual = textOf('docs/operations.md')
    expect(manual).toContain('kubectl -n gantry patch secret gantry --patch \'{"stringData": {"BLOB_URL":')
  })

  test('the gateway reaches every service by a headless name and the port of its container', () => {
    const config = Object.assign({}, ...configOf('gateway')) as Record<string, string>
    for (const service of ['catalog', 'identity', 'media', 'notifier']) {
      const { hostname, port } = new URL(config[`${service.toUpperCase()}_URL`] ?? '')
      const found = of('Service').find(({ metadata }) => metadata.name === hostname)
      expect(found?.spec).toMatchObject({ clusterIP: 'None', publishNotReadyAddresses: true })
      // A headless name resolves to the addresses of the pods.
      expect(Number(port)).toBe(deployment(service).container.ports[0]?.containerPort)
    }
  })

  test('services reach each other by the same names as the gateway', () => {
    for (const name of PROCESSES) {
      const config = Object.assign({}, ...configOf(name)) as Record<string, string>
      for (const service of ['catalog', 'identity', 'media', 'notifier'])
        expect(config[`${service.toUpperCase()}_URL`]).toBe(`http://${service}:8080`)
    }
  })

  test('every network policy selects existing pods', () => {
    for (const { metadata, spec } of of('NetworkPolicy')) {
      const peers = [
        ...spec.ingress.flatMap(({ from = [] }) => from),
        ...spec.egress.flatMap(({ to = [] }) => to),
      ]
      const selectors = [spec.podSelector, ...peers.flatMap(({ podSelector }) => podSelector ?? [])]
      for (const matchLabels of selectors.flatMap(wants)) {
        expect(matchLabels, metadata.name).not.toEqual({})
        expect(
          pods.some(labels => matches(matchLabels, labels)),
          metadata.name,
        ).toBe(true)
      }
    }
  })

  describe('network policies allow', () => {
    const policies = of('NetworkPolicy')
    const services = ['catalog', 'identity', 'media', 'notifier']
    const pod = (name: string): End => {
      const labels = pods.find(labels => labels['app.kubernetes.io/name'] === name)
      if (!labels) throw new Error(`there is no pod ${name}`)
      return { pod: labels }
    }
    /** The processes that an end may connect to at a port. */
    const reached = (from: End, port: string) =>
      PROCESSES.filter(name => isAllowed(policies, from, pod(name), port)).toSorted()

    test.each(PROCESSES)('%s to the operations and the internal requests of all services', name => {
      for (const port of ['http', 'internal']) expect(reached(pod(name), port)).toEqual(services)
    })

    test('monitoring to metrics, and otherwise only to what all others may reach', () => {
      expect(reached({ namespace: 'monitoring' }, 'internal')).toEqual(PROCESSES.toSorted())
      expect(reached({ namespace: 'monitoring' }, 'http')).toEqual(['gateway'])
    })

    test.each([
      ['another namespace', { namespace: 'default' }],
      ['outside', { address: '192.0.2.1' }],
      ['inside', { address: '10.0.0.1' }],
    ])('%s to the operations of the gateway only', (_, from) => {
      expect(reached(from, 'http')).toEqual(['gateway'])
      expect(reached(from, 'internal')).toEqual([])
    })
  })

  describe('the engines', () => {
    const services = ['catalog', 'identity', 'media', 'notifier']
    const PORTS = { eventStore: 2113, readModels: 27017, messaging: 4222 }
    const EVERYWHERE = ['10.20.1.7', '10.20.2.7', '10.20.3.7', '203.0.113.7', '2001:db8::7']
    const podOf = (name: string) => ({
      pod: pods.find(labels => labels['app.kubernetes.io/name'] === name) ?? {},
    })
    /** The engine and the address of each connection that a process may open. */
    const opened = (policies: Parameters<typeof isAllowed>[0], name: string) =>
      Object.entries(PORTS).flatMap(([engine, port]) =>
        EVERYWHERE.filter(address => isAllowed(policies, podOf(name), { address }, port)).map(
          address => `${engine} ${address}`,
        ),
      )
    /** The notifier may reach any port of public addresses. */
    const webhooks = (name: string) =>
      name === 'notifier'
        ? Object.keys(PORTS).flatMap(engine => [`${engine} 203.0.113.7`, `${engine} 2001:db8::7`])
        : []
    let folder: string
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'gantry-kubernetes-'))
    })
    afterAll(() => rm(folder, { recursive: true }))

    /** The manifests with the example of a component, or a changed one. */
    const withExample = (component: string, change?: (example: string) => string) => {
      writeExample(folder, component, change)
      const changed = builtManifests(folder)
      if (!changed) throw new Error('unreachable')
      return changed
    }
    const limitedTo = (change?: (example: string) => string) => {
      const limited = withExample('deploy/kubernetes/engine-networks', change)
      expect(limited.kinds).toEqual(kinds)
      expect(limited.of('NetworkPolicy')).toHaveLength(of('NetworkPolicy').length)
      return limited.of('NetworkPolicy')
    }

    test('stay reachable with KEDA, which scales the notifier instead of its autoscaler', () => {
      const scaled = withExample('deploy/kubernetes/keda')
      const [object, ...others] = scaled.of('ScaledObject')
      expect(others).toEqual([])
      expect(object?.metadata.namespace).toBe('management')
      expect(object?.spec.scaleTargetRef.name).toBe('notifier')
      const unchanged = yamlOf('deploy/kubernetes/keda/notifier.yaml') as typeof object
      const named = (query = '') => query.replaceAll('namespace="gantry"', 'namespace="management"')
      expect(object?.spec.triggers.map(({ metadata }) => metadata.query)).toEqual(
        unchanged?.spec.triggers.map(({ metadata }) => named(metadata.query)),
      )
      const scalers = scaled.of('HorizontalPodAutoscaler').map(({ metadata }) => metadata.name)
      expect(scalers.sort()).toEqual(PROCESSES.filter(name => name !== 'notifier').sort())
      // Without it KEDA refuses its object while an installation still has the former autoscaler.
      const former = of('HorizontalPodAutoscaler').find(({ metadata }) => metadata.name === 'notifier')
      expect(former?.metadata.annotations).toEqual({ 'validations.keda.sh/hpa-ownership': 'false' })
      expect(scaled.of('NetworkPolicy').map(({ spec }) => spec)).toEqual(
        of('NetworkPolicy').map(({ spec }) => spec),
      )
    })

    test('include S3 for media alone, with its component', () => {
      const policies = withExample('deploy/kubernetes/images-in-s3').of('NetworkPolicy')
      const reaching = (given: typeof policies) =>
        services.filter(name => isAllowed(given, podOf(name), { address: '203.0.113.7' }, 443))
      expect(reaching(policies)).toEqual(['identity', 'media', 'notifier'])
      expect(reaching(of('NetworkPolicy'))).toEqual(['identity', 'notifier'])
    })

    test('are reachable by their ports at any address', () => {
      const all = (engine: string) => EVERYWHERE.map(address => `${engine} ${address}`)
      for (const name of services)
        expect(opened(of('NetworkPolicy'), name)).toEqual(Object.keys(PORTS).flatMap(all))
      expect(opened(of('NetworkPolicy'), 'gateway')).toEqual(all('messaging'))
    })

    test('are reachable only in their networks if these are configured', () => {
      const policies = limitedTo(example =>
        example.replace(/- namespaceSelector: .*/, '- ipBlock: { cidr: 10.20.3.0/24 }'),
      )
      const messaging = ['messaging 10.20.3.7']
      for (const name of services) {
        const own = ['eventStore 10.20.1.7', 'readModels 10.20.2.7', ...messaging]
        expect(opened(policies, name).toSorted()).toEqual([...own, ...webhooks(name)].toSorted())
      }
      expect(opened(policies, 'gateway')).toEqual(messaging)
    })

    test('may be pods of another namespace, without an effect on other connections', () => {
      const policies = limitedTo()
      expect(isAllowed(policies, podOf('gateway'), { namespace: 'nats' }, 4222)).toBe(true)
      expect(isAllowed(policies, podOf('gateway'), { namespace: 'default' }, 4222)).toBe(false)
      for (const name of PROCESSES) {
        expect(isAllowed(policies, podOf(name), { address: '10.0.0.10' }, 53)).toBe(true)
        expect([name, isAllowed(policies, podOf(name), { address: '203.0.113.7' }, 443)]).toEqual([
          name,
          ['identity', 'notifier'].includes(name),
        ])
      }
      expect(isAllowed(policies, podOf('notifier'), { address: '10.20.1.7' }, 443)).toBe(false)
    })
  })

  test('the manual for operators has every key of the secret', () => {
    const keys = deployments.flatMap(({ spec }) =>
      spec.template.spec.containers[0].env.flatMap(({ valueFrom: { secretKeyRef } }) =>
        secretKeyRef.optional ? [] : secretKeyRef.key,
      ),
    )
    expect([...new Set(keys)].sort()).toEqual(Object.keys(SECRETS).sort())
    const manual = textOf('docs/operations.md')
    for (const key of keys) expect(manual).toContain(`--from-literal=${key}=`)
  })
})
