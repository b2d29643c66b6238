import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CACHE, goModule } from '@gantry/engines'
import { parse } from 'yaml'

type Json = Record<string, unknown>

/** The version of Kubernetes whose schemas and rules the manifests are tested with. */
export const KUBERNETES = '1.37.2'

/** The module with the OpenAPI document of Kubernetes. */
const OPENAPI = {
  module: `k8s.io/kubernetes@v${KUBERNETES}`,
  sum: 'h1:A2VDEiObzkYqFTKhSsn0ZEb0RlLEXpHWj93gi2HqEwE=',
  kinds: [
    'apps/v1/Deployment',
    'autoscaling/v2/HorizontalPodAutoscaler',
    'batch/v1/CronJob',
    'batch/v1/Job',
    'networking.k8s.io/v1/Ingress',
    'networking.k8s.io/v1/NetworkPolicy',
    'policy/v1/PodDisruptionBudget',
    '/v1/ConfigMap',
    '/v1/Namespace',
    '/v1/PersistentVolumeClaim',
    '/v1/Service',
  ],
}

/** Modules of operators, and files in them with a CustomResourceDefinition each. */
const OPERATORS = [
  {
    module: 'sigs.k8s.io/gateway-api@v1.6.3',
    sum: 'h1:lKpJa5bGlraC/QeACvCpsHLdmO6y0iKfzVl6gzaFEYc=',
    files: ['config/crd/standard/gateway.networking.k8s.io_httproutes.yaml'],
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    sum: 'h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=',
    files: [
      'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml',
      'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml',
    ],
  },
  {
    module: 'github.com/external-secrets/external-secrets@v1.3.2',
    sum: 'h1:u2J8RjlHIeF0oZCqtl92adI/uZWUwOesJIDkfql6LqQ=',
    files: ['config/crds/bases/external-secrets.io_externalsecrets.yaml'],
  },
  {
    module: 'github.com/kedacore/keda/v2@v2.20.2',
    sum: 'h1:SR60v8uIcelbveS8n/1jcl8tLdBBIbHMxmdOHw8tKqA=',
    files: ['config/crd/bases/keda.sh_scaledobjects.yaml'],
  },
]

/**
 * Writes a JSON schema for each kind, unless they are cached. They refuse unknown members, like `kubectl apply` with strict
 * validation.
 * @returns the folder of the schemas, which kubeconform finds by their names, e.g. deployment-apps-v1.json
 */
export async function kubernetesSchemas(): Promise<string> {
  const key = createHash('sha256')
    .update(readFileSync(import.meta.filename))
    .digest('hex')
    .slice(0, 12)
  const folder = join(CACHE, `schemas-${key}`)
  if (existsSync(folder)) return folder
  const making = `${folder}.${process.pid}`
  mkdirSync(making, { recursive: true })
  const write = (group: string, version: string, kind: string, schema: Json) => {
    const parts = [kind, group.split('.')[0], version].filter(part => part !== '')
    writeFileSync(join(making, `${parts.join('-').toLowerCase()}.json`), JSON.stringify(schema))
  }
  const swagger = join(await goModule(OPENAPI.module, OPENAPI.sum), 'api/openapi-spec/swagger.json')
  const { definitions } = strict(JSON.parse(readFileSync(swagger, 'utf8'))) as { definitions: Json }
  for (const [group = '', version = '', kind = ''] of OPENAPI.kinds.map(name => name.split('/')))
    write(group, version, kind, {
      $ref: `#/definitions/${nameOf(definitions, group, version, kind)}`,
      definitions,
    })
  for (const { module, sum, files } of OPERATORS) {
    const home = await goModule(module, sum)
    for (const file of files) {
      const { spec } = parse(readFileSync(join(home, file), 'utf8')) as {
        spec: { group: string; names: { kind: string }; versions: CustomVersion[] }
      }
      for (const { name, schema } of spec.versions)
        write(spec.group, name, spec.names.kind, strict(schema.openAPIV3Schema) as Json)
    }
  }
  try {
    renameSync(making, folder)
  } catch {
    // Another process was faster.
    rmSync(making, { recursive: true })
  }
  return folder
}

interface CustomVersion {
  name: string
  schema: { openAPIV3Schema: Json }
}

function nameOf(definitions: Json, group: string, version: string, kind: string): string {
  const found = Object.entries(definitions).find(([, definition]) =>
    ((definition as Json)['x-kubernetes-group-version-kind'] as Json[] | undefined)?.some(
      one => one.group === group && one.version === version && one.kind === kind,
    ),
  )
  if (!found) throw new Error(`Kubernetes has no ${group}/${version} ${kind}`)
  return found[0]
}

/** Kubernetes also accepts a number, e.g. for `cpu`. */
const QUANTITY = 'io.k8s.apimachinery.pkg.api.resource.Quantity'
const TEXT_OR_NUMBER = { type: ['string', 'number'] }

/** A copy of a schema that refuses members that it does not name, as the API server does. */
function strict(schema: unknown, isMap = false): unknown {
  if (Array.isArray(schema)) return schema.map(one => strict(one))
  if (schema === null || typeof schema !== 'object') return schema
  const all = schema as Json
  // `properties` and `definitions` are maps of schemas.
  if (isMap)
    return Object.fromEntries(
      Object.entries(all).map(([name, one]) => [name, name === QUANTITY ? TEXT_OR_NUMBER : strict(one)]),
    )
  if (all['x-kubernetes-int-or-string'] || all.format === 'int-or-string') return TEXT_OR_NUMBER
  const copy = Object.fromEntries(
    Object.entries(all)
      .filter(([name]) => name !== 'default' && name !== 'description' && name !== 'paths')
      .map(([name, one]) => [name, strict(one, name === 'properties' || name === 'definitions')]),
  )
  const isClosed =
    copy.properties !== undefined &&
    copy.additionalProperties === undefined &&
    !copy['x-kubernetes-preserve-unknown-fields']
  return isClosed ? { ...copy, additionalProperties: false } : copy
}
