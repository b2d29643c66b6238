import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import {
  type AboutApi,
  type ApiInput,
  type DocumentKind,
  type ImportPlan,
  type JobResult,
  type ReceivedDocument,
  Refusal,
  requests,
} from '@gantry/contracts'
import { type CommandMetadata, nameUuids } from '@gantry/event-sourcing'
import type { Peers } from '@gantry/service-runtime'
import type { Collection } from '@gantry/stores'
import type { ApiAggregate } from '../api/api.decide.ts'
import type { ApiDocument } from '../api/api.projection.ts'
import type { LiveApi } from '../api/api.ts'
import { documentsOf } from '../api/version.ts'

/** A document to import, as it is or compressed. */
export interface GivenDocument {
  bytes: Uint8Array
  isGzip?: boolean
  charset?: string | undefined
}

/** What identifies an import: in every try the same, so that it is done once. */
export interface ImportIds {
  /** The ids of the API and the version, if they are created. */
  api: string
  version: string
  metadata: CommandMetadata
}

export interface Imported {
  name: string
  api: string
  status: Exclude<JobResult['status'], 'DELETED' | 'FAILED'>
}

export interface ImportOptions {
  api: ApiAggregate
  apis: Collection<ApiDocument>
  peers: Pick<Peers, 'ask'>
  /** Maximum number of versions of an API; 0 for no limit. */
  limit: number
}

/** What a document names and says. */
interface Entry {
  name: string
  displayName: string
  description: string | null
  version: string
  document: Omit<ReceivedDocument, 'name'>
}

const TRIES = 3
const compressed = promisify(gzip)
const partUuid = nameUuids('f4c8c1c0-0a35-4d0b-8e0e-2f0f7a1b6c55')

/** The same metadata for another command of an import. */
const partOf = (metadata: CommandMetadata, part: string): CommandMetadata => ({
  ...metadata,
  commandId: partUuid(`${metadata.commandId}/${part}`),
})

/** Imports APIs from documents, which media checks and stores. */
export class ApiImports {
  readonly #options: ImportOptions

  constructor(options: ImportOptions) {
    this.#options = options
  }

  /**
   * Creates or updates the API and the version that a document names, and gives the document to the version. A repeated
   * import completes one that was interrupted.
   * @throws Refusal, e.g. document-invalid, api-name-taken
   */
  async run(document: GivenDocument, ids: ImportIds): Promise<Imported> {
    const entry = await this.#receive(document)
    const { id, status } = await this.#writeApi(entry, ids)
    const version = await this.#writeVersion(entry, id, ids)
    const place = { api: await this.#live(id), version: version.id, dryRun: false }
    const action = await this.#attach(entry, place, ids.metadata)
    const isChanged = version.isNew || action !== 'NONE'
    return { name: entry.name, api: id, status: status === 'UNCHANGED' && isChanged ? 'UPDATED' : status }
  }

  /** What an import would do. @throws Refusal, e.g. document-invalid */
  async plan(document: GivenDocument, metadata: CommandMetadata): Promise<ImportPlan> {
    const entry = await this.#receive(document)
    const { name, displayName } = entry
    const { kind, findings } = entry.document
    const api = await this.#find(name)
    const version = api?.versionIds.get(entry.version)
    const place = api && version && { api, version, dryRun: true }
    return {
      api: { action: planned(api, entry), id: api?.record.id ?? null, name, displayName },
      version: { action: version ? 'NONE' : 'CREATE', id: version ?? null, name: entry.version },
      document: {
        action: place ? await this.#attach(entry, place, metadata) : 'CREATE',
        name: documentName(entry, api, version),
        kind,
      },
      findings,
    }
  }

  /** Has media check and store a document. @throws Refusal document-invalid */
  async #receive({ bytes, isGzip, charset }: GivenDocument): Promise<Entry> {
    const packed = Buffer.from(isGzip ? bytes : await compressed(bytes))
    const asked = { gzip: packed.toString('base64'), ...(charset && { charset }) }
    const { document, about } = await this.#options.peers.ask(requests.receiveDocument, asked)
    return entryOf(document, about)
  }

  async #find(name: string): Promise<LiveApi | undefined> {
    const { api, apis } = this.#options
    const [found] = await apis.list({ where: { name }, limit: 1 })
    if (!found) return undefined
    const { state } = await api.load(found.doc.id)
    return state.status === 'Live' && state.record.name === name ? state : undefined
  }

  /** @throws Refusal api-not-found */
  async #live(id: string): Promise<LiveApi> {
    const { state } = await this.#options.api.load(id)
    if (state.status !== 'Live') throw new Refusal('api-not-found')
    return state
  }

  /** Creates the API, or sets its fields. */
  async #writeApi(entry: Entry, { api: id, metadata: given }: ImportIds) {
    const { api } = this.#options
    const metadata = partOf(given, 'api')
    for (let tries = 1; ; tries++) {
      const found = await this.#find(entry.name)
      if (found) return { id: found.record.id, status: await this.#update(found, entry, { id, metadata }) }
      try {
        await api.execute(id, { type: 'CreateApi', metadata, id, input: inputOf(entry) })
        return { id, status: 'CREATED' as const }
      } catch (error) {
        // Another request creates it at the same time.
        if (!isRefusal(error, 'api-name-taken') || tries === TRIES) throw error
      }
    }
  }

  async #update(
    { record }: LiveApi,
    { displayName, description }: Entry,
    { id, metadata }: { id: string; metadata: CommandMetadata },
  ): Promise<Imported['status']> {
    const change = { displayName, ...(description !== null && { description }) }
    const command = { type: 'ChangeApi', metadata: partOf(metadata, 'change'), change } as const
    const { facts } = await this.#options.api.execute(record.id, command)
    // An earlier try of this import has created it.
    if (record.id === id) return 'CREATED'
    return facts.length > 0 ? 'UPDATED' : 'UNCHANGED'
  }

  /** Creates the version unless it exists. */
  async #writeVersion(entry: Entry, of: string, { version: id, metadata: given }: ImportIds) {
    const { api, limit } = this.#options
    const find = async () => (await this.#live(of)).versionIds.get(entry.version)
    const known = await find()
    if (known) return { id: known, isNew: known === id }
    const metadata = partOf(given, 'version')
    const input = { name: entry.version, displayName: null, description: null, status: 'ACTIVE' } as const
    try {
      await api.execute(of, { type: 'CreateVersion', metadata, api: of, id, input, limit })
      return { id, isNew: true }
    } catch (error) {
      // Another request has created it at the same time.
      const other = isRefusal(error, 'version-name-taken') ? await find() : undefined
      if (!other) throw error
      return { id: other, isNew: false }
    }
  }

  async #attach(
    entry: Entry,
    { api, version, dryRun }: { api: LiveApi; version: string; dryRun: boolean },
    given: CommandMetadata,
  ) {
    const { commandId, actor, requestId, repeated = false } = partOf(given, 'document')
    const { action } = await this.#options.peers.ask(requests.attachDocument, {
      api: api.record.id,
      version,
      document: { ...entry.document, name: documentName(entry, api, version) },
      dryRun,
      metadata: { commandId, actor, requestId, repeated: repeated !== false },
    })
    return action
  }
}

function planned(api: LiveApi | undefined, { displayName, description }: Entry) {
  if (!api) return 'CREATE'
  const { record } = api
  const isSame = record.displayName === displayName && [null, record.description].includes(description)
  return isSame ? 'NONE' : 'UPDATE'
}

const isRefusal = (error: unknown, code: Refusal['code']) => error instanceof Refusal && error.code === code

const inputOf = ({ name, displayName, description }: Entry): ApiInput => ({
  ...{ name, displayName, description },
  ...{ url: null, status: 'ACTIVE', tags: [], owner: null, platformType: null },
  ...{ gitUrl: null, gitCredential: null },
})

const DESCRIBE_NO_API: ReadonlySet<DocumentKind> = new Set(['other', 'markdown'])

/** @throws Refusal document-invalid when the document names no API */
function entryOf(document: Omit<ReceivedDocument, 'name'>, about: AboutApi): Entry {
  const title = labelOf(document.title, 255)
  const provider = labelOf(about.provider, 120)
  const inProvider = labelOf(about.service, 134) ?? labelOf(document.title, 134)
  const name = labelOf(about.name, 255) ?? (provider && inProvider ? `${provider}:${inProvider}` : title)
  if (!name || DESCRIBE_NO_API.has(document.kind)) {
    const message = DESCRIBE_NO_API.has(document.kind)
      ? 'it describes no API: it is not OpenAPI, AsyncAPI, GraphQL, Protobuf, WSDL, Postman or JSON Schema'
      : 'it names no API: give it a title, or x-gantry-name'
    throw new Refusal('document-invalid', {
      detail: message,
      errors: [{ line: null, column: null, pointer: null, message }],
    })
  }
  const description = about.description && [...about.description].slice(0, 1_000).join('')
  const version = labelOf(document.version, 100)
  return {
    name,
    displayName: title ?? name,
    description: description ? description.replaceAll('\0', ' ').toWellFormed() : null,
    version: version === undefined || /^\.{1,2}$/.test(version) ? 'unversioned' : version,
    document,
  }
}

/** A text as a name or label may have it; undefined if nothing is left. */
function labelOf(text: string | null, most: number): string | undefined {
  const shown = (text ?? '')
    .replace(/\p{Cc}+/gu, ' ')
    .toWellFormed()
    .trim()
  return [...shown].slice(0, most).join('').trim() || undefined
}

const NAMES: Readonly<Record<DocumentKind, string>> = {
  openapi: 'openapi',
  asyncapi: 'asyncapi',
  graphql: 'schema.graphql',
  protobuf: 'service.proto',
  wsdl: 'service.wsdl',
  postman: 'collection.json',
  'json-schema': 'schema.json',
  markdown: 'readme.md',
  other: 'document',
}

/** The name of the document of its kind that the version has, else one by its kind. */
function documentName({ document }: Entry, api: LiveApi | undefined, version: string | undefined): string {
  const { kind, mediaType } = document
  const known = version === undefined ? undefined : api?.versions.get(version)
  const same = known ? documentsOf(known).filter(each => each.kind === kind) : []
  const existing = same.find(({ primary }) => primary) ?? same[0]
  if (existing) return existing.name
  const name = NAMES[kind]
  return name.includes('.') || kind === 'other'
    ? name
    : `${name}.${mediaType.includes('json') ? 'json' : 'yaml'}`
}
