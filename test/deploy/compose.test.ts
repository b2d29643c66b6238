import { existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { processSettings, shutdownMs } from '@gantry/hosting'
import { readSettings } from '@gantry/service-runtime'
import { afterAll, describe, expect, test } from 'vitest'
import { type ComposeService, readCompose, withDefaults } from './src/compose.ts'
import { ROOT, textOf } from './src/files.ts'
import { PROCESSES, SETTINGS, unread } from './src/settings.ts'

const { services, networks, volumes } = readCompose('docker-compose.yml')
const all = Object.entries(services)
const named = (name: string): ComposeService => {
  const service = services[name]
  if (!service) throw new Error(`there is no service ${name}`)
  return service
}

const folder = mkdtempSync(join(tmpdir(), 'gantry-compose-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('has the five services, from one image, and their backing stores', () => {
  expect(Object.keys(services).sort()).toEqual(
    [...PROCESSES, 'eventstore', 'mongodb', 'nats', 'secrets'].sort(),
  )
  expect(new Set(PROCESSES.map(name => named(name).image)).size).toBe(1)
  for (const name of PROCESSES) {
    expect(named(name).command).toEqual([name])
    expect(existsSync(join(ROOT, `services/${name}/src/main.ts`))).toBe(true)
    expect(existsSync(join(ROOT, named(name).build?.dockerfile ?? ''))).toBe(true)
  }
})

test('every image has the version of a patch, and those of other projects their digest', () => {
  const files = globSync(['docker-compose.yml', 'deploy/Dockerfile', 'deploy/kubernetes/**/*.yaml'], {
    cwd: ROOT,
  })
  const named = files.flatMap(file =>
    [...textOf(file).matchAll(/^(?: *(?:- )?image: *|FROM )(\S+:.+?)(?: AS .*)?$/gm)].map(
      ([, image = '']) => image,
    ),
  )
  const pinned = /^[\w./-]+:\d+\.\d+\.\d+[\w.-]*@sha256:[\da-f]{64}$/
  const open = [...new Set(named.filter(image => !pinned.test(image)))].map(image => withDefaults(image))
  // The digest of EventStoreDB, which has a tag for each processor architecture, is in no public index of official images.
  expect(open.sort()).toEqual([
    'eventstore/eventstore:23.10.1-jammy',
    'gantry:0.1.0',
    'registry.example.com/gantry:0.1.0',
  ])
  expect(named.length).toBeGreaterThan(10)
})

test.each(all)('the dependencies of %s exist and can reach the condition that it waits for', (_, service) => {
  for (const [other, { condition }] of Object.entries(service.depends_on)) {
    expect(Object.keys(services)).toContain(other)
    if (condition === 'service_healthy') expect(named(other).healthcheck, other).toBeDefined()
    if (condition === 'service_completed_successfully') expect(named(other).restart, other).toBeUndefined()
  }
})

test('every long-running process has a health check and is restarted when it exits', () => {
  for (const [name, { healthcheck, restart }] of all) {
    expect([name, healthcheck !== undefined, restart]).toEqual(
      name === 'secrets' ? [name, false, undefined] : [name, true, 'unless-stopped'],
    )
  }
})

test('the container logs that Docker keeps are bounded', () => {
  for (const [name, { logging }] of all) expect([name, logging]).toEqual([name, services.gateway?.logging])
  expect(services.gateway?.logging).toBeDefined()
})

test('volumes are declared and used, and mounted files exist', () => {
  const sources = all.flatMap(([, service]) => service.volumes.map(volume => volume.split(':')[0] ?? ''))
  const files = sources.filter(source => source.startsWith('.'))
  expect(files.filter(file => !existsSync(join(ROOT, file)))).toEqual([])
  const mounted = sources.filter(source => !source.startsWith('.'))
  expect([...new Set(mounted)].sort()).toEqual(Object.keys(volumes).sort())
})

test('backing stores are reachable only over internal networks', () => {
  const closed = Object.keys(networks).filter(name => networks[name]?.internal)
  for (const [name, { networks: of = [], ports }] of all) {
    expect(of.filter(network => !(network in networks))).toEqual([])
    if (['eventstore', 'mongodb', 'nats', 'catalog', 'media'].includes(name))
      expect([name, of.filter(network => !closed.includes(network))]).toEqual([name, []])
    expect([name, ports.length]).toEqual([name, name === 'gateway' ? 1 : 0])
  }
  const [port = ''] = named('gateway').ports
  expect(withDefaults(port)).toBe('127.0.0.1:8080:8080')
})

test('the published port does not serve metrics or internal requests', () => {
  const [port = ''] = named('gateway').ports
  expect(withDefaults(port)).not.toContain(named('gateway').environment.METRICS_PORT)
  expect(named('gateway').environment.METRICS_PORT).toBe('8081')
})

test('every dollar sign begins a variable with a default', () => {
  const text = textOf('docker-compose.yml').replace(/#.*$/gm, '')
  expect(text.replace(/\$\{\w+:-[^}]*\}/g, '')).not.toContain('$')
})

test('no secret is in the file', () => {
  for (const [name, { environment }] of all) {
    for (const [setting, value] of Object.entries(environment)) {
      if (/KEY|PASSWORD|SECRET|TOKEN/.test(setting) && !setting.endsWith('_FILE'))
        expect([name, setting, value]).toEqual([name, setting, null])
      expect([name, setting, /\/\/[^/]*@/.test(value ?? '')]).toEqual([name, setting, false])
    }
  }
})

/** The files that the service `secrets` copies to each volume, by the name of the volume. */
function copiedSecrets(): Map<string, string[]> {
  const { entrypoint = [], volumes: mounted } = named('secrets')
  const volumeAt = new Map(mounted.map(volume => volume.split(':')).map(([name, path]) => [path, name]))
  return new Map(
    entrypoint.slice(3).map(argument => {
      const [path, files = ''] = argument.split(':')
      return [volumeAt.get(path) ?? '', files.split(',')] as const
    }),
  )
}

test.each([
  ['gateway', ['principal-key']],
  ['catalog', ['encryption-key', 'principal-key', 'read-model-url']],
  ['identity', ['admin-password', 'encryption-key', 'principal-key', 'read-model-url']],
  ['media', ['encryption-key', 'principal-key', 'read-model-url']],
  ['notifier', ['encryption-key', 'principal-key', 'read-model-url']],
])('%s can read only the secrets that it needs', (name, needed) => {
  const { environment, volumes: mounted } = named(name)
  expect(mounted).toEqual([expect.stringMatching(/^[\w-]+:\/run\/gantry:ro$/)])
  expect(
    copiedSecrets()
      .get(mounted[0]?.split(':')[0] ?? '')
      ?.toSorted(),
  ).toEqual(needed)
  const read = Object.entries(environment).flatMap(([setting, value]) =>
    setting.endsWith('_FILE') ? [value] : [],
  )
  expect(read.toSorted()).toEqual(needed.map(file => `/run/gantry/${file}`))
})

test('backing stores cannot read secrets, except MongoDB its password', () => {
  for (const name of ['eventstore', 'nats'])
    expect([name, named(name).volumes.filter(volume => volume.includes('secrets'))]).toEqual([name, []])
  const { volumes: mounted, environment, entrypoint } = named('mongodb')
  expect(mounted).toContain('mongodb-secrets:/run/gantry:ro')
  expect(copiedSecrets().get('mongodb-secrets')).toEqual(['mongo-password'])
  expect(entrypoint?.at(-1)).toMatch(/mongo-password (\S+) && .* --keyFile \1$/)
  expect(entrypoint?.at(-1)).toContain(` ${environment.MONGO_INITDB_ROOT_PASSWORD_FILE} `)
})

describe.each(PROCESSES)('the environment of %s', name => {
  test('contains only settings of the service, and all required ones', () => {
    const { environment } = named(name)
    expect(unread(name, Object.keys(environment))).toEqual([])
    const secret = Object.keys(environment).filter(setting => setting.endsWith('_FILE'))
    for (const setting of secret) {
      const other = setting.endsWith('_URL_FILE') ? 'mongodb://a:b@mongodb/c' : 'a password for tests'
      const isKey = setting.endsWith('_KEY_FILE')
      writeFileSync(join(folder, setting), isKey ? Buffer.alloc(32).toString('base64') : other)
    }
    const given = {
      ...Object.fromEntries(Object.entries(environment).map(([setting, value]) => [setting, value ?? ''])),
      ...Object.fromEntries(secret.map(setting => [setting, join(folder, setting)])),
    }
    expect(() => readSettings(SETTINGS[name] ?? processSettings, given)).not.toThrow()
  })

  test('lets the operator set every setting, except those that the containers fix', () => {
    const given = Object.keys(named(name).environment).map(setting => setting.replace(/_FILE$/, ''))
    const fixed = ['PORT', 'INTERNAL_PORT', 'HOST', 'BASE_PATH', 'BLOB_URL']
    // stop_grace_period is chosen for their defaults, and cannot follow them.
    const ofStop = ['SHUTDOWN_DELAY', 'SHUTDOWN_TIMEOUT']
    expect(given.filter(setting => ofStop.includes(setting))).toEqual([])
    fixed.push(...ofStop)
    const missing = Object.keys(SETTINGS[name]?.shape ?? {}).filter(setting => !given.includes(setting))
    // In this file the gateway signs principals with PRINCIPAL_KEY.
    if (name === 'gateway') fixed.push('ENCRYPTION_KEY')
    // In this file NATS requires no credentials.
    expect(missing.filter(setting => !fixed.includes(setting) && !setting.startsWith('NATS_'))).toEqual([])
  })

  test('has enough time to drain and exit', () => {
    const ms = shutdownMs(processSettings.pick({ SHUTDOWN_DELAY: true, SHUTDOWN_TIMEOUT: true }).parse({}))
    expect(Number.parseInt(named(name).stop_grace_period ?? '10s', 10) * 1_000).toBeGreaterThan(ms)
  })

  test('has only URLs of services in this file', () => {
    const urls = Object.values(named(name).environment).filter(value => value?.includes('://'))
    expect(urls.length).toBeGreaterThan(0)
    for (const url of urls) {
      const host = new URL(url ?? '').hostname
      expect(Object.keys(services)).toContain(host)
      expect(named(name).networks).toEqual(expect.arrayContaining(['inside']))
      expect(named(host).networks).toEqual(expect.arrayContaining(['inside']))
    }
  })
})

test('the backing stores have the versions that the adapters are tested with', () => {
  for (const [name, finder] of [
    ['eventstore', 'find-event-store'],
    ['mongodb', 'find-mongo'],
    ['nats', 'find-nats'],
  ] as const) {
    const [, version = 'none'] = /:(\d+\.\d+\.\d+)/.exec(withDefaults(named(name).image)) ?? []
    expect(textOf(`test/engines/src/${finder}.ts`)).toContain(version)
  }
})
