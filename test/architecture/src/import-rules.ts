import type { IForbiddenRuleType } from 'dependency-cruiser'

/** Tests, and files that only tests use. */
const TESTS = ['^test/', '\\.test\\.ts$', '/testing/', '/fixtures/', '(^|/)vitest[^/]*\\.config\\.ts$']
const WORKSPACE = '^((?:packages|services|test)/[^/]+)/'

/** Files that may choose the stores: entry points, and the packages that host services. */
const COMPOSITION_ROOTS = ['^services/(standalone|operations)/', '^packages/hosting/', '/src/main\\.ts$']

/** Vendors with the only workspace that may import them, so that each can be replaced in one place. */
const OWNERS = {
  '@asyncapi/specs': 'services/media',
  '@aws-sdk/client-s3': 'packages/s3',
  '@eventstore/db-client': 'packages/event-store-esdb',
  '@fastify/cors': 'services/gateway',
  '@fastify/jwt': 'packages/service-runtime',
  '@fastify/multipart': 'services/media',
  '@fastify/rate-limit': 'services/gateway',
  '@fastify/reply-from': 'services/gateway',
  '@fastify/static': 'services/gateway',
  '@graphql-inspector/core': 'services/media',
  '@mantine/core': 'services/console',
  '@mantine/hooks': 'services/console',
  '@mantine/notifications': 'services/console',
  '@opentelemetry/api': 'packages/tracing',
  '@opentelemetry/exporter-trace-otlp-http': 'packages/tracing',
  '@opentelemetry/exporter-trace-otlp-proto': 'packages/tracing',
  '@opentelemetry/resources': 'packages/tracing',
  '@opentelemetry/sdk-trace': 'packages/tracing',
  '@scalar/fastify-api-reference': 'services/console',
  '@redocly/openapi-core': 'services/media',
  '@seriousme/openapi-schema-validator': 'services/media',
  '@tanstack/react-query': 'services/console',
  '@tanstack/react-router': 'services/console',
  '@tanstack/react-table': 'services/console',
  '@tanstack/react-virtual': 'services/console',
  ajv: 'services/media',
  'ajv-draft-04': 'services/media',
  'ajv-formats': 'services/media',
  'cli-progress': 'services/operations',
  canonicalize: 'packages/audit',
  diff: 'services/console',
  dompurify: 'services/console',
  graphql: 'services/media',
  'highlight.js': 'services/console',
  'ipaddr.js': 'services/notifier',
  jose: 'services/identity',
  'js-yaml': 'services/(console|media)',
  'jsonc-parser': 'services/media',
  marked: 'services/console',
  mongodb: 'packages/stores-mongo',
  nats: 'packages/messaging-nats',
  piscina: 'services/identity',
  protobufjs: 'services/media',
  react: 'services/console',
  'react-dom': 'services/console',
  saxes: 'services/media',
  stemmer: 'packages/stores',
  undici: 'services/notifier',
  uplot: 'services/console',
  vite: 'services/console',
  'zod-openapi': 'packages/contracts',
}

/** Libraries that the whole project uses. */
const VOCABULARY = ['fastify', 'lru-cache', 'negotiator', 'pino', 'prom-client', 'uuid', 'zod']

const literally = (text: string) => text.replace(/[.\\/]/g, '\\$&')
const packages = (names: readonly string[]) => `(^|/)node_modules/(${names.map(literally).join('|')})/`

/** Rules about the imports of all files. Imports of types count. */
export const FILE_RULES: IForbiddenRuleType[] = [
  {
    name: 'no cycle of files',
    severity: 'error',
    from: {},
    to: { circular: true },
  },
  {
    name: 'imports resolve',
    comment: 'The stories of generated clients import what their journeys generate.',
    severity: 'error',
    from: { pathNot: '^test/clients/stories/' },
    to: { couldNotResolve: true },
  },
  {
    name: 'a service imports no other service',
    comment:
      'Services know each other by contracts. Standalone hosts the others, and operations runs their projectors.',
    severity: 'error',
    from: { path: '^services/([^/]+)/', pathNot: '^services/(standalone|operations)/' },
    to: { path: '^services/', pathNot: '^services/$1/' },
  },
  {
    name: 'an area of the console imports no other area',
    comment: 'What several areas use is in http or parts. The frame of the pages, shell, is no area.',
    severity: 'error',
    from: { path: '^services/console/app/([^/]+)/', pathNot: '^services/console/app/shell/' },
    to: { path: '^services/console/app/[^/]+/', pathNot: '^services/console/app/($1|http|parts)/' },
  },
  {
    name: 'packages import no service',
    severity: 'error',
    from: { path: '^packages/' },
    to: { path: '^services/' },
  },
  {
    name: 'the client imports nothing',
    comment: 'It is published, and runs in browsers and Node alike.',
    severity: 'error',
    from: { path: '^packages/client/', pathNot: TESTS },
    to: { pathNot: '^packages/client/' },
  },
  {
    name: 'only composition roots import adapters',
    severity: 'error',
    from: { path: '^(?:packages|services)/([^/]+)/', pathNot: [...TESTS, ...COMPOSITION_ROOTS] },
    to: {
      path: '^packages/(embedded|event-store-esdb|messaging-nats|stores-mongo)/',
      pathNot: '^packages/$1/',
    },
  },
  {
    name: 'workspaces import each other by name',
    comment: 'A package decides by its exports which of its files others import.',
    severity: 'error',
    from: { path: WORKSPACE },
    to: {
      dependencyTypes: ['local'],
      dependencyTypesNot: ['aliased-workspace'],
      pathNot: ['^$1/', '^vitest[^/]*\\.config\\.ts$', '^bin/'],
    },
  },
  {
    name: 'the SDK of OpenTelemetry is loaded on demand',
    comment: 'Without a collector it would cost start time and memory.',
    severity: 'error',
    from: { path: WORKSPACE, pathNot: TESTS },
    to: {
      path: '^packages/tracing/src/otlp\\.ts$',
      dependencyTypesNot: ['dynamic-import', 'type-only'],
    },
  },
  {
    name: 'only tests import the launcher',
    severity: 'error',
    from: { path: WORKSPACE, pathNot: TESTS },
    to: { path: '^bin/' },
  },
  {
    name: 'production code imports no tests',
    severity: 'error',
    from: { path: '^(packages|services)/', pathNot: TESTS },
    to: { path: TESTS },
  },
  {
    name: 'production code imports no development dependencies',
    comment: 'npm start does not install them.',
    severity: 'error',
    from: { path: '^(packages|services)/', pathNot: TESTS },
    to: { dependencyTypes: ['npm-dev'] },
  },
  {
    name: 'node:sqlite only in packages/embedded',
    severity: 'error',
    from: { pathNot: ['^packages/embedded/', ...TESTS] },
    to: { path: '^node:sqlite$' },
  },
  ...Object.entries(OWNERS).map(
    ([vendor, owner]): IForbiddenRuleType => ({
      name: `${vendor} only in ${owner}`,
      severity: 'error',
      from: { pathNot: [`^${owner}/`, ...TESTS] },
      to: { path: packages([vendor]) },
    }),
  ),
  {
    name: 'every vendor has an owner',
    comment: 'A new vendor is listed with its workspace in test/architecture/src/import-rules.ts.',
    severity: 'error',
    from: { pathNot: TESTS },
    to: { path: '(^|/)node_modules/', pathNot: packages([...Object.keys(OWNERS), ...VOCABULARY]) },
  },
]

/** Rules about folders. Tests do not count, because the test of a folder may use any other. */
export const FOLDER_RULES: IForbiddenRuleType[] = [
  {
    name: 'no cycle of folders',
    severity: 'error',
    scope: 'folder',
    from: {},
    to: { circular: true },
  },
]

export const TEST_FILES = TESTS
