import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { argumentsOfImage, imageIn } from '@gantry/deploy/image'
import { RELEASE } from '@gantry/service-runtime'
import type { Release } from '../../src/cluster.ts'

/** Prefix that the next release puts before one field of an update that it writes in the new schema version. */
export const NEXT = 'next '
/** The tag with which an update makes the next release also append `ApiArchived`. */
export const ARCHIVE = 'archive'

interface Patch {
  /** Relative to the root of the project. */
  file: string
  /** Text that occurs exactly once in the file. */
  text: string
  instead: string
}

/**
 * Adds the event type `ApiArchived` and version 2 of `ApiUpdated` and `WebhookUpdated`. In version 2 a field has another
 * name, and a prefix in its value when the next release wrote it. Documents keep their shape.
 */
const PATCHES: readonly Patch[] = [
  {
    file: 'packages/service-runtime/package.json',
    text: `"version": "${RELEASE}"`,
    instead: '"version": "999.0.0"',
  },
  {
    file: 'services/catalog/src/api/api.ts',
    text: '  ApiUpdated: [],\n',
    instead: `  ApiUpdated: [({ platformType, ...data }) => ({ ...data, platform: platformType })],
  ApiArchived: [],
`,
  },
  {
    file: 'services/catalog/src/api/api.ts',
    text: `    case 'ApiUpdated':
      return changed(event.data)
`,
    instead: `    case 'ApiUpdated': {
      const { platform, ...fields } = event.data
      return changed({ ...fields, platformType: platform })
    }
    case 'ApiArchived':
      return changed({ deploymentStatus: 'UNDEPLOYED', updatedAt: event.data.archivedAt })
`,
  },
  {
    file: 'services/catalog/src/api/api.decide.ts',
    text: "  return [{ type: 'ApiUpdated', data: { ...fields, updatedAt: command.metadata.now } }]\n",
    instead: `  const { platformType, ...others } = fields
  const { now } = command.metadata
  const data = { ...others, platform: \`${NEXT}\${platformType}\`, updatedAt: now }
  const archived = { type: 'ApiArchived', data: { archivedAt: now } }
  return [{ type: 'ApiUpdated', data }, ...(fields.tags.includes('${ARCHIVE}') ? [archived] : [])]
`,
  },
  {
    file: 'services/notifier/src/webhook/webhook.ts',
    text: '  WebhookUpdated: [],\n',
    instead: '  WebhookUpdated: [({ displayName, ...data }) => ({ ...data, title: displayName })],\n',
  },
  {
    file: 'services/notifier/src/webhook/webhook.ts',
    text: '      const updated = { ...record, ...event.data, disabledReason }\n',
    instead: `      const { title, ...fields } = event.data
      const updated = { ...record, ...fields, displayName: title, disabledReason }
`,
  },
  {
    file: 'services/notifier/src/webhook/webhook.decide.ts',
    text: "    decided.push({ type: 'WebhookUpdated', data: { ...fields, updatedAt: metadata.now } })\n",
    instead: `  {
    const { displayName: title, ...others } = fields
    const data = { ...others, title: \`${NEXT}\${title}\`, updatedAt: metadata.now }
    decided.push({ type: 'WebhookUpdated', data })
  }
`,
  },
]

/** A release in a folder like that of its image, run as the image runs it. */
export interface InstalledRelease extends Release {
  remove(): Promise<void>
}

async function install(fill: (root: string) => unknown): Promise<InstalledRelease> {
  const root = await mkdtemp(join(tmpdir(), 'gantry-release-'))
  await fill(root)
  return {
    root,
    argumentsOf: argumentsOfImage,
    remove: () => rm(root, { recursive: true, force: true }),
  }
}

/** This release and the next one: a copy of it with the patches. */
export async function installReleases(): Promise<Record<'current' | 'next', InstalledRelease>> {
  const current = await install(imageIn)
  // Its links between workspaces are relative, so they stay in the copy.
  const next = await install(root => cp(current.root, root, { recursive: true, verbatimSymlinks: true }))
  for (const { file, text, instead } of PATCHES) {
    const path = join(next.root, file)
    const parts = (await readFile(path, 'utf8')).split(text)
    if (parts.length !== 2) throw new Error(`${file} has it ${parts.length - 1} times, not once:\n${text}`)
    await writeFile(path, parts.join(instead))
  }
  return { current, next }
}
