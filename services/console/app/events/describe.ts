import type { FeedEvent } from './buffer.ts'

/** What an event is about, by the beginning of its type. The first match counts. */
const GROUPS = [
  ['API_DEPLOY', 'Deployments', 'teal'],
  ['API_UNDEPLOYED', 'Deployments', 'teal'],
  ['DEPLOYMENT', 'Deployments', 'teal'],
  ['API_VERSION_DOCUMENT', 'Documents', 'violet'],
  ['API_VERSION', 'Versions', 'indigo'],
  ['API_IMAGE', 'Images', 'grape'],
  ['API_', 'APIs', 'cyan'],
  ['WEBHOOK', 'Webhooks', 'orange'],
  ['RECOVERY', 'Webhooks', 'orange'],
  ['DELIVERY', 'Webhooks', 'orange'],
  ['TEST', 'Webhooks', 'orange'],
  ['USER', 'Users', 'pink'],
] as const

/** The groups of event types with their colours. */
export const groupsOf = (types: readonly string[]) => [
  ...new Map(types.map(type => [groupOf(type).group, groupOf(type)])).values(),
]

/** The group of an event type with its colour. */
export function groupOf(type: string): { group: string; color: string } {
  const [, group, color] = GROUPS.find(([start]) => type.startsWith(start)) ?? ['', 'Platform', 'gray']
  return { group, color }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

/** The name of the resource of an event, as its data has it. */
export function nameIn({ data }: FeedEvent): string | undefined {
  const named = isRecord(data.api) ? data.api : data
  return textOf(named.displayName) ?? textOf(named.name)
}

const idOf = (value: unknown) => textOf(isRecord(value) ? value.id : value)

/** Id of the API that an event concerns. */
export const apiOf = ({ type, subject, data }: FeedEvent): string | undefined =>
  idOf(data.api) ?? (groupOf(type).group === 'APIs' && type !== 'API_DELETED' ? subject : undefined)

/** Id of the environment to which an API is deployed, or from which it is removed. */
export const environmentOf = ({ type, data }: FeedEvent): string | undefined =>
  groupOf(type).group === 'Deployments' ? idOf(data.environment) : undefined

/** Id of the webhook that an event concerns. */
export const webhookOf = ({ type, subject, data }: FeedEvent): string | undefined =>
  idOf(data.webhook) ?? (type.startsWith('WEBHOOK_') ? subject : undefined)
