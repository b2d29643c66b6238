import type { ProjectFile } from './project-files.ts'
import { fileOf, importsOf, isSource, isTest, packageOf, workspaceOf } from './source.ts'

const SERVICES = new Set(['catalog', 'gateway', 'identity', 'media', 'notifier', 'standalone'])
const ADAPTERS = new Set(['embedded', 'event-store-esdb', 'messaging-nats', 'read-models-mongo'])

/** Files that may choose the stores: entry points, and the packages that host services. */
const isCompositionRoot = (path: string) =>
  path.startsWith('services/standalone/') ||
  path.startsWith('packages/hosting/') ||
  path.endsWith('/src/main.ts')

/** Services know each other only by contracts, packages import no service, and only composition roots import adapters. */
export function layerViolations(file: ProjectFile): string[] {
  if (!isSource(file)) return []
  const { path } = file
  const own = workspaceOf(path)
  return importsOf(file).flatMap(specifier => {
    const target = fileOf(file, specifier)
    if (target !== undefined) {
      const allowed =
        workspaceOf(target) === own ||
        /^vitest(\.[\w-]+)?\.config\.ts$/.test(target) ||
        ((isTest(file) || path.includes('/fixtures/')) && target.startsWith('bin/'))
      return allowed ? [] : [`${path} reaches into ${workspaceOf(target)}`]
    }
    const name = packageOf(specifier)?.replace(/^@gantry\//, '') ?? ''
    if (SERVICES.has(name) && specifier.startsWith('@gantry/')) return ofService(own, name, path)
    const isAdapter = ADAPTERS.has(name) && specifier.startsWith('@gantry/')
    if (isAdapter && !isTest(file) && !isCompositionRoot(path)) return [`${path} knows the adapter ${name}`]
    return []
  })
}

function ofService(own: string, service: string, path: string): string[] {
  const mayKnow = own === 'services/standalone' || own.startsWith('test/') || own === `services/${service}`
  return mayKnow ? [] : [`${path} imports the service ${service}`]
}
