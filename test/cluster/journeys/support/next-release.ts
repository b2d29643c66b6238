import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative, sep } from 'node:path'

const ROOT = join(import.meta.dirname, '../../../..')

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

export interface NextRelease {
  /** Root folder of the sources, with the layout of this project. */
  root: string
  remove(): Promise<void>
}

/** Copies the sources of this release into a new folder and applies the patches of the next release. */
export async function makeNextRelease(): Promise<NextRelease> {
  const root = await mkdtemp(join(tmpdir(), 'gantry-next-'))
  const isSource = (path: string) => !relative(ROOT, path).split(sep).includes('node_modules')
  await cp(join(ROOT, 'package.json'), join(root, 'package.json'))
  for (const folder of ['packages', 'services'])
    await cp(join(ROOT, folder), join(root, folder), { recursive: true, filter: isSource })
  await linkModules(root)
  for (const { file, text, instead } of PATCHES) {
    const path = join(root, file)
    const parts = (await readFile(path, 'utf8')).split(text)
    if (parts.length !== 2) throw new Error(`${file} has it ${parts.length - 1} times, not once:\n${text}`)
    await writeFile(path, parts.join(instead))
  }
  return { root, remove: () => rm(root, { recursive: true, force: true }) }
}

/** Links installed packages. Links between workspaces lead into the copy. */
export async function linkModules(root: string): Promise<void> {
  const [installed, own] = [join(ROOT, 'node_modules'), join(root, 'node_modules')]
  await mkdir(join(own, '@gantry'), { recursive: true })
  for (const name of await readdir(installed))
    if (name !== '@gantry') await symlink(join(installed, name), join(own, name))
  for (const folder of ['packages', 'services'])
    for (const name of await readdir(join(root, folder)))
      await symlink(join(root, folder, name), join(own, '@gantry', name))
}
