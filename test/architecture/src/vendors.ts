import type { ProjectFile } from './project-files.ts'
import { importsOf, isSource, isTest, packageOf, workspaceOf } from './source.ts'

/** Vendors behind a port or another boundary, with the only workspace that may import them. */
const OWNERS: Readonly<Record<string, string>> = {
  '@eventstore/db-client': 'packages/event-store-esdb',
  mongodb: 'packages/read-models-mongo',
  nats: 'packages/messaging-nats',
  'node:sqlite': 'packages/embedded',
  '@fastify/jwt': 'packages/service-kit',
  '@fastify/multipart': 'services/media',
  '@fastify/rate-limit': 'services/gateway',
  '@fastify/swagger-ui': 'services/gateway',
  jose: 'services/identity',
  undici: 'services/notifier',
  'zod-openapi': 'packages/contracts',
}

/** Libraries that the whole project uses. */
const VOCABULARY = new Set(['fastify', 'lru-cache', 'pino', 'prom-client', 'uuid', 'zod'])

const isVendor = (name: string) =>
  name in OWNERS || !(name.startsWith('node:') || name.startsWith('@gantry/') || VOCABULARY.has(name))

/** Every vendor has one importing workspace, so that it can be replaced in one place. Tests may import any vendor. */
export function severalImporters(files: readonly ProjectFile[]): string[] {
  const importers = new Map<string, Set<string>>()
  for (const file of files.filter(file => isSource(file) && !isTest(file))) {
    for (const specifier of importsOf(file)) {
      const vendor = packageOf(specifier)
      if (!vendor || !isVendor(vendor)) continue
      importers.set(vendor, (importers.get(vendor) ?? new Set()).add(workspaceOf(file.path)))
    }
  }
  return [...importers].flatMap(([vendor, workspaces]) => {
    const owner = OWNERS[vendor]
    const others = [...workspaces].filter(workspace => workspace !== owner)
    if (owner) return others.map(workspace => `${workspace} imports ${vendor}, which only ${owner} may`)
    return others.length > 1 ? [`${vendor} is imported by ${others.join(' and ')}`] : []
  })
}
