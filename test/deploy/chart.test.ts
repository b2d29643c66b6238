import { RELEASE } from '@gantry/service-runtime'
import { describe, expect, test } from 'vitest'
import type { Resource } from './src/charts.ts'
import { readCompose } from './src/compose.ts'
import { textOf, yamlOf } from './src/files.ts'

const schema = JSON.parse(textOf('deploy/helm/gantry/values.schema.json')) as Resource
const propertiesOf = (...path: string[]): string[] =>
  Object.keys(path.reduce<Resource>((at, name) => at.properties[name], schema).properties)

describe('the values schema', () => {
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
