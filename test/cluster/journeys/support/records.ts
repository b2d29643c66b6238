import type { RecordedEvent } from '@gantry/event-sourcing'
import type { Fields, Sent } from './commands.ts'
import { NEXT } from './next-release.ts'
import type { Topology } from './topology.ts'

/** `this` is the release of the checkout, `next` the one after it. */
export type Release = 'this' | 'next'

/** The visible state of an API or a webhook: the fields that commands set, and the versions by id. */
interface Shown {
  record: Fields
  versions: Readonly<Record<string, Fields>>
}

/** By stream, without deleted resources. */
export type Resources = Readonly<Record<string, Shown>>

/** All records that clients can read, with all fields. */
export interface Records {
  apis: readonly Fields[]
  versions: readonly Fields[]
  webhooks: readonly Fields[]
}

export async function readRecords(topology: Pick<Topology, 'send'>): Promise<Records> {
  const all = async (path: string) => {
    const content: Fields[] = []
    for (let page = 1, last = false; !last; page++) {
      const answer = await topology.send(`${path}size=100&page=${page}`)
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
      const body = (await answer.json()) as { content: Fields[]; last: boolean }
      content.push(...body.content)
      last = body.last
    }
    return content
  }
  const apis = await all('/apis?includeDeployedOn=true&includeRunningJobs=true&')
  const versions = await Promise.all(apis.map(({ id }) => all(`/apis/${id}/versions?`)))
  return { apis, versions: versions.flat(), webhooks: await all('/webhooks?') }
}

const API = ['name', 'displayName', 'description', 'status', 'tags', 'platformType', 'deploymentStatus']
const VERSION = ['name', 'displayName', 'status']
const WEBHOOK = ['displayName', 'url', 'active', 'eventTypes']

const pick = (record: Fields, names: readonly string[]) =>
  Object.fromEntries(names.map(name => [name, record[name]]))

/** The fields of the records that commands set. */
export function resourcesOf({ apis, versions, webhooks }: Records): Resources {
  const shown: Record<string, Shown> = {}
  for (const api of apis) {
    const own = versions.filter(version => version.api === api.id)
    const byId = Object.fromEntries(own.map(version => [version.id, pick(version, VERSION)]))
    shown[`api-${api.id}`] = { record: pick(api, API), versions: byId }
  }
  for (const webhook of webhooks)
    shown[`webhook-${webhook.id}`] = { record: pick(webhook, WEBHOOK), versions: {} }
  return shown
}

const isNew = ({ type, metadata }: RecordedEvent) => type === 'ApiArchived' || metadata.schemaVersion === 2

/** The release that wrote an event; undefined for events that both releases write alike. */
export function writerOf(event: RecordedEvent): Release | undefined {
  if (isNew(event)) return 'next'
  return event.type === 'ApiUpdated' || event.type === 'WebhookUpdated' ? 'this' : undefined
}

/**
 * State of every stream after the commands. The values are those that the callers sent; the log only contributes the
 * order of the commands and the release that executed each.
 * @param release whose view is computed: `this` ignores events that only `next` knows
 */
export function expectedResources(
  log: readonly RecordedEvent[],
  sent: ReadonlyMap<string, Sent>,
  release: Release,
): Resources {
  const shown: Record<string, Shown> = {}
  for (const event of log) {
    const command = sent.get(event.metadata.requestId)
    if (!command || (release === 'this' && isNew(event))) continue
    const after = applied(shown[event.stream], event, command)
    if (after) shown[event.stream] = after
    else delete shown[event.stream]
  }
  return shown
}

function applied(before: Shown | undefined, event: RecordedEvent, command: Sent): Shown | undefined {
  const { fields, version = '' } = command
  const { record, versions } = before ?? { record: {}, versions: {} }
  switch (event.type) {
    case 'ApiCreated':
      return { record: { ...fields, deploymentStatus: 'CREATED' }, versions }
    case 'WebhookCreated':
      return { record: fields, versions }
    case 'ApiUpdated':
      return { record: { ...record, ...fields, ...marked('platformType', event, fields) }, versions }
    case 'WebhookUpdated':
      return { record: { ...record, ...fields, ...marked('displayName', event, fields) }, versions }
    case 'ApiArchived':
      return { record: { ...record, deploymentStatus: 'UNDEPLOYED' }, versions }
    case 'VersionCreated':
    case 'VersionUpdated':
      return { record, versions: { ...versions, [version]: fields } }
    case 'VersionDeleted': {
      const { [version]: _, ...others } = versions
      return { record, versions: others }
    }
    case 'ApiDeleted':
      return undefined
    default:
      throw new Error(`no command leads to ${event.type}`)
  }
}

/** The field that the next release writes with a prefix. */
const marked = (field: string, event: RecordedEvent, fields: Fields) =>
  isNew(event) && { [field]: `${NEXT}${fields[field]}` }

/** Commands whose events in the log contradict their response, as text. */
export function misrecorded(log: readonly RecordedEvent[], sent: ReadonlyMap<string, Sent>): string[] {
  const byRequest = Map.groupBy(log, ({ metadata }) => metadata.requestId)
  const strange = log.filter(({ metadata }) => !sent.has(metadata.requestId))
  const wrong = [...sent.values()].filter(({ requestId, outcome }) => {
    const types = (byRequest.get(requestId) ?? []).map(({ type }) => type)
    const isTwice = new Set(types).size !== types.length
    return (
      isTwice || (outcome === 'done' && types.length === 0) || (outcome === 'refused' && types.length > 0)
    )
  })
  return [
    ...strange.map(({ stream, type }) => `${stream} has ${type} of no command`),
    ...wrong.map(
      command => `${JSON.stringify(command)} has ${JSON.stringify(byRequest.get(command.requestId))}`,
    ),
  ]
}
