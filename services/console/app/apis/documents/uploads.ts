import { answer, client } from '../../http/client.ts'
import { RequestFailed } from '../../http/problem.ts'
import { uploader } from '../../http/upload.ts'
import { type DocumentRecord, readBytes, type VersionPath } from './reads.ts'

const MOST_BYTES = 20 * 1_048_576
const LONGEST_NAME = 100

/** Why files cannot be uploaded, as far as that is known without the service; undefined if one can be. */
export function refusalOf(files: readonly File[]): RequestFailed | undefined {
  const refused = (title: string, detail: string) =>
    new RequestFailed({ status: 0, code: 'document-refused', title, detail })
  const [file, ...others] = files
  if (!file || others.length > 0)
    return refused('One document at a time', 'Drop a single file. Several Protobuf files go into one zip.')
  if (file.size > MOST_BYTES)
    return refused(
      'The document is too large',
      `${file.name} has ${(file.size / 1_048_576).toFixed(1)} MiB, and at most 20 MiB are allowed.`,
    )
  return undefined
}

/** The name of a document, from that of a file. */
export const nameOf = (file: string): string =>
  file
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, LONGEST_NAME) || 'document'

export interface StoreOptions {
  path: VersionPath
  name: string
  /** The document that it replaces. */
  replaced: DocumentRecord | undefined
  signal: AbortSignal
  onProgress(part: number): void
}

/** Stores a document: a new one, or in place of the one that the person has seen. @throws ProblemError or ConnectionError */
export async function store(file: Blob, options: StoreOptions): Promise<DocumentRecord> {
  const { path, name, replaced, signal, onProgress } = options
  const condition = replaced ? { ifMatch: tagOf(replaced) } : { ifNoneMatch: '*' }
  // Without a type of its own the browser would guess one from the name of the file.
  const body = file.slice(0, file.size, 'application/octet-stream')
  return answer(uploader(onProgress).putDocument({ ...path, name, body }, { ...condition, signal }))
}

/** Makes a document the primary one of its version: it is stored again as it is. @throws ProblemError or ConnectionError */
export async function makePrimary(path: VersionPath, document: DocumentRecord): Promise<void> {
  const { name } = document
  const body = await readBytes(path, name)
  await uploader().putDocument({ ...path, name, primary: true, body }, { ifMatch: tagOf(document) })
}

/** Deletes a document, unless it has changed since it was shown. @throws ProblemError or ConnectionError */
export const remove = (path: VersionPath, document: DocumentRecord) =>
  answer(client.deleteDocument({ ...path, name: document.name }, { ifMatch: tagOf(document) }))

const tagOf = ({ sha256 }: DocumentRecord) => `"${sha256}"`
