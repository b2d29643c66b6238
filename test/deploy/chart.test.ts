import { RELEASE } from '@gantry/service-kit'
import { describe, expect, test } from 'vitest'
import type { Resource } from './src/charts.ts'
import { readCompose } from './src/compose.ts'
import { textOf, yamlOf } from './src/files.ts'
import { PROCESSES, SETTINGS, unread } from './src/settings.ts'

/** Settings that the chart chooses. */
const CHOSEN = [
  'PORT',
  'HOST',
  'INTERNAL_PORT',
  'METRICS_PORT',
  ...PROCESSES.map(name => `${name.toUpperCase()}_URL`),
]
/** Settings that are the same in all processes. */
const SAME = ['BASE_PATH', 'PUBLIC_URL']
/** Secrets that every process, or every service, gets. */
const GIVEN = [
  'PRINCIPAL_KEY',
  'MESSAGING_URL',
  'ENCRYPTION_KEY',
  'EVENT_STORE_URL',
  'READ_MODEL_URL',
  'GANTRY_ADMIN_PASSWORD',
]

const schema = JSON.parse(textOf('deploy/helm/gantry/values.schema.json')) as Resource
const propertiesOf = (...path: string[]): string[] =>
  Object.keys(path.reduce<Resource>((at, name) => at.properties[name], schema).properties)

describe('the values schema', () => {
  test.each(PROCESSES)('has every setting of %s, as a setting or as a secret, and no other', name => {
    const known = Object.keys(SETTINGS[name]?.shape ?? {}).filter(
      setting => ![...CHOSEN, ...SAME, ...GIVEN].includes(setting),
    )
    const secrets = schema.properties[name].properties.secretSettings.items.enum as string[]
    expect([...propertiesOf(name, 'settings'), ...secrets].toSorted()).toEqual(known.toSorted())
  })

  test('has the settings that all processes know for all of them', () => {
    const common = propertiesOf('settings').filter(name => name !== 'PUBLIC_URL')
    for (const name of PROCESSES) expect(unread(name, common)).toEqual([])
    const own = PROCESSES.map(name => new Set(propertiesOf(name, 'settings')))
    const shared = [...(own[0] ?? [])].filter(setting => own.every(settings => settings.has(setting)))
    expect(common.toSorted()).toEqual([...shared, 'BASE_PATH'].toSorted())
  })

  test('has the values of values.yaml and refuses all others', () => {
    const closed = (at: Resource, path: string) => {
      if (at.properties) expect([path, at.additionalProperties]).toEqual([path, false])
      for (const [name, one] of Object.entries<Resource>(at.properties ?? {})) closed(one, `${path}.${name}`)
    }
    closed(schema, '')
    const values = Object.keys(yamlOf('deploy/helm/gantry/values.yaml') as object)
    expect(
      propertiesOf()
        .filter(name => name !== 'global')
        .toSorted(),
    ).toEqual(values.toSorted())
  })
})

test('the chart, the image and the services have one version', () => {
  const chart = yamlOf('deploy/helm/gantry/Chart.yaml')
  expect(chart).toMatchObject({ version: RELEASE, appVersion: RELEASE })
  expect(readCompose('docker-compose.yml').services.catalog?.image).toBe(`gantry:${RELEASE}`)
})
