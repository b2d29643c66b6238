import type { Schemas } from '../http/schemas.ts'

type EventType = Schemas['EventType']

/** The beginnings of names with the group that they belong to. The first one that fits counts. */
const GROUPS: readonly (readonly [string, string])[] = [
  ['API_VERSION_DOCUMENT_', 'Documents of APIs'],
  ['API_VERSION_', 'API versions'],
  ['API_IMAGE_', 'API images'],
  ['API_DEPLOY', 'Deployments of APIs'],
  ['API_UNDEPLOY', 'Deployments of APIs'],
  ['API_', 'APIs'],
  ['PRODUCT_', 'Products'],
  ['SUBSCRIPTION_', 'Subscriptions'],
  ['APPROVAL_REQUEST_', 'Approval requests'],
  ['CONFIGURATION_', 'Configuration'],
  ['WEBHOOK_', 'Other webhooks'],
]

/** The event types that a search matches, by group. */
export function groupsOf(types: readonly EventType[], search: string): [string, EventType[]][] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const matching = types.filter(({ name, description }) => {
    // People also write the words of a name apart.
    const text = `${name} ${name.replaceAll('_', ' ')} ${description}`.toLowerCase()
    return words.every(word => text.includes(word))
  })
  return [...Map.groupBy(matching, ({ name }) => groupOf(name))]
}

const groupOf = (name: string): string => GROUPS.find(([start]) => name.startsWith(start))?.[1] ?? 'Tests'
