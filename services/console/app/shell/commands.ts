import { useMantineColorScheme } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQueries, useQuery } from '@tanstack/react-query'
import { defaultStringifySearch } from '@tanstack/react-router'
import { answer, client } from '../http/client.ts'
import { INTERFACE_PATH } from '../http/place.ts'
import type { Query, Scope } from '../http/schemas.ts'
import type { Session } from '../http/session.ts'
import { isByPassword, signOut } from '../login/sign-in.ts'
import { webhooksQuery } from '../parts/all-webhooks.ts'
import { namedQuery, versionNameQuery } from '../parts/api-name.tsx'
import { useMissingWords } from '../parts/missing-words.ts'
import { aboutOf, bestOf, pathOf } from '../parts/operations.ts'
import { areasOf } from './areas.ts'

/** An entry of the command palette. */
export interface Command {
  id: string
  group: string
  label: string
  detail?: string | undefined
  /** Whether the detail has a line of its own. */
  hasLines?: boolean
  /** Whether it leads to all records of the group, and is none itself. */
  leadsToAll?: boolean
  /** Words by which it is found besides its label. */
  words?: string
  /** The path of the console that it opens. */
  path?: string
  /** The dialog of the account that it opens. */
  dialog?: AccountDialog
  run?: () => void
}

/** A dialog of the user menu. */
export type AccountDialog = 'password' | 'sign-out'

/** Records of a kind that are shown. */
const SHOWN = 6
/** APIs whose description, tags or operations have the words. */
const OTHER_APIS = 'APIs that mention it'
const TYPING_MS = 150
/** Operations of which the best are shown: the service sorts them by path. */
const READ_OPERATIONS = 100
/** Of longer searches only the first words are looked up in paths. */
const MOST_WORDS = 3
const FRESH_MS = 60_000

/** The pages and actions that match a text, for what the session may do. */
export function useCommands(current: Session, text: string): Command[] {
  const { setColorScheme } = useMantineColorScheme()
  const theme = (value: 'light' | 'dark' | 'auto', name: string) => ({
    id: `theme-${value}`,
    group: 'Actions',
    label: `Use the ${name}`,
    words: 'mode colours appearance',
    run: () => setColorScheme(value),
  })
  const commands: Command[] = [
    ...pagesOf(current),
    ...creationsOf(current),
    theme('light', 'light theme'),
    theme('dark', 'dark theme'),
    theme('auto', 'theme of the system'),
    {
      id: 'documentation',
      group: 'Actions',
      label: 'Open the documentation of the REST interface',
      words: 'api docs openapi help',
      run: () => void window.open(`${INTERFACE_PATH}/docs`, '_blank', 'noopener'),
    },
    ...(isByPassword(current) ? [PASSWORD] : []),
    { id: 'sign-out', group: 'Actions', label: 'Sign out', words: 'log out logout', run: signOut },
    {
      id: 'sign-out-everywhere',
      group: 'Actions',
      label: 'Sign out everywhere',
      words: 'log out logout sessions',
      dialog: 'sign-out',
    },
  ]
  // A label that has the words comes before other words.
  const found = commands.filter(({ label, detail, words }) => matches([label, detail, words].join(' '), text))
  const ranked = [true, false].flatMap(named => found.filter(({ label }) => matches(label, text) === named))
  return Object.values(Object.groupBy(ranked, ({ group }) => group)).flatMap((group = []) => group)
}

const PASSWORD: Command = {
  id: 'password',
  group: 'Actions',
  label: 'Change password',
  words: 'own account',
  dialog: 'password',
}

/** The areas, and the lists of them that are asked for most. */
function pagesOf(current: Session): Command[] {
  const areas = areasOf(current)
  const group = 'Pages'
  const list = (area: (typeof areas)[number]['to'], entry: { label: string; words: string; path: string }) =>
    areas.some(({ to }) => to === area) ? [{ id: entry.path, group, detail: 'Webhooks', ...entry }] : []
  return [
    ...areas.map(area => ({
      id: area.to,
      group,
      label: area.label,
      detail: area.group === area.label ? undefined : area.group,
      path: area.to,
    })),
    ...list('/webhooks', {
      label: 'Failing webhooks',
      words: 'failed errors broken',
      path: '/webhooks?state=failing',
    }),
    ...list('/deliveries', {
      label: 'Failed deliveries',
      words: 'failing errors given up',
      path: '/deliveries?status=GIVE_UP',
    }),
    ...(current.scopes.includes('USER_READ')
      ? [
          {
            id: 'own-user',
            group,
            label: 'Your user',
            words: 'own account profile',
            path: `/users/${current.user.id}`,
          },
        ]
      : []),
  ]
}

function creationsOf({ scopes }: Session): Command[] {
  const creation = (scope: Scope, label: string, path: string) =>
    scopes.includes(scope) ? [{ id: path, group: 'Actions', label, words: 'new add', path }] : []
  return [
    ...creation('API_WRITE', 'Create API', '/apis/new'),
    ...creation('API_WRITE', 'Import APIs', '/apis/import'),
    ...creation('WEBHOOKS_WRITE', 'Create webhook', '/webhooks/new'),
    ...creation('RULE_SETS_WRITE', 'Create rule set', '/rule-sets/new'),
    ...creation('USER_WRITE', 'Create user', '/users/new'),
    ...creation('ACCESS_TOKEN_MANAGE', 'Create access token', '/tokens/new'),
  ]
}

/** The APIs, operations, webhooks and users that match a text. Without a text there are none. */
export function useRecords(current: Session, typed: string) {
  const [text] = useDebouncedValue(typed.trim(), TYPING_MS)
  const { apis, operations, best, names, versions, webhooks, users, searches } = useSearches(current, text)
  const { missing } = useMissingWords(text, apis.data?.content ?? [])
  const ofApis = (apis.data?.content ?? []).map(({ id, name, displayName }) => ({
    id,
    group: matches(`${displayName} ${name}`, text) ? 'APIs' : OTHER_APIS,
    label: displayName,
    detail: displayName === name ? undefined : name,
    path: `/apis/${id}`,
    hasLines: true,
  }))
  const named = ofApis.filter(({ group }) => group !== OTHER_APIS)
  const others = ofApis.filter(({ group }) => group === OTHER_APIS)
  const allApis = allOf(others.length > 0 ? OTHER_APIS : 'APIs', apis.data?.totalElements, ofApis.length, {
    what: 'APIs that match',
    path: `/apis${defaultStringifySearch({ search: text })}`,
  })
  const ofWebhooks = (webhooks.data?.webhooks ?? []).filter(({ name, displayName }) =>
    matches(`${name} ${displayName}`, text),
  )
  const ofUsers = users.data?.content ?? []
  // A name comes before a text that has the words.
  const found: Command[] = [
    ...named,
    ...(others.length > 0 ? [] : allApis),
    ...ofWebhooks.slice(0, SHOWN).map(({ id, displayName }) => ({
      id,
      group: 'Webhooks',
      label: displayName,
      path: `/webhooks/${id}`,
    })),
    ...allOf('Webhooks', ofWebhooks.length, SHOWN, {
      what: 'webhooks',
      path: `/webhooks${defaultStringifySearch({ search: text })}`,
    }),
    ...ofUsers.map(({ id, username, displayName }) => ({
      id,
      group: 'Users',
      label: displayName,
      detail: username,
      path: `/users/${id}`,
    })),
    ...allOf('Users', users.data?.totalElements, ofUsers.length, {
      what: 'users',
      path: `/users${defaultStringifySearch({ text })}`,
    }),
    ...best.map((operation, index) => {
      const api = names.find(({ data }) => data?.id === operation.api)?.data?.displayName
      const version = versions.find(({ data }) => data?.id === operation.version)?.data?.name
      return {
        id: `operation-${index}`,
        group: 'Operations',
        label: `${operation.method} ${operation.path}`,
        // A long description is cut.
        detail: [[api, version].filter(Boolean).join(' '), aboutOf(operation)].filter(Boolean).join(' · '),
        path: pathOf(operation),
        hasLines: true,
      }
    }),
    ...allOf('Operations', operations.data?.total, best.length, {
      what: 'operations',
      path: `/operations${defaultStringifySearch({ q: text })}`,
    }),
    ...others,
    ...(others.length > 0 ? allApis : []),
  ]
  return {
    found: text === '' ? [] : found,
    /** Words that no API has. The APIs found have the others. */
    missing,
    reading: text !== typed.trim() || searches.some(({ isFetching }) => isFetching),
    error: searches.find(({ isError }) => isError)?.error,
  }
}

function useSearches({ scopes }: Session, text: string) {
  const may = (scope: Scope) => text !== '' && scopes.includes(scope)
  const apis = useQuery({
    queryKey: ['palette', 'apis', text],
    queryFn: ({ signal }) => answer(client.listApis({ q: text, size: SHOWN }, { signal })),
    enabled: may('API_READ'),
    staleTime: FRESH_MS,
  })
  const operations = useQuery({
    queryKey: ['palette', 'operations', text],
    queryFn: ({ signal }) => readOperations(text, signal),
    enabled: may('API_READ'),
    staleTime: FRESH_MS,
  })
  const best = bestOf(operations.data?.read ?? [], text).slice(0, SHOWN)
  const ids = new Set(best.map(({ api }) => api))
  const names = useQueries({ queries: [...ids].map(namedQuery) })
  const versions = useQueries({
    queries: [...new Map(best.map(operation => [operation.version, operation])).values()].map(
      ({ api, version }) => versionNameQuery(api, version),
    ),
  })
  const webhooks = useQuery({
    ...webhooksQuery,
    enabled: may('WEBHOOKS_READ'),
    staleTime: FRESH_MS,
  })
  const users = useQuery({
    queryKey: ['palette', 'users', text],
    queryFn: ({ signal }) => answer(client.listUsers({ text, size: SHOWN }, { signal })),
    enabled: may('USER_READ'),
    staleTime: FRESH_MS,
  })
  const searches = [apis, operations, webhooks, users]
  return { apis, operations, best, names, versions, webhooks, users, searches }
}

/**
 * Operations that have the words, and how many there are. Of more than are read at once, the first ones by path may all be
 * poor: those of which a part of the path begins with a word are read too. They are read from the end, because paths at
 * the beginning of the order have only a # and a name.
 */
async function readOperations(text: string, signal: AbortSignal) {
  const read = async (query: Pick<Query<'listOperations'>, 'q' | 'sort'>) =>
    answer(client.listOperations({ ...query, size: READ_OPERATIONS }, { signal }))
  const { content, totalElements: total } = await read({ q: text })
  const words = total > READ_OPERATIONS ? text.split(/\s+/).slice(0, MOST_WORDS) : []
  const inPaths = await Promise.all(
    words.map((word, index) =>
      read({ q: text.split(/\s+/).with(index, `/${word}`).join(' '), sort: ['path,desc'] }),
    ),
  )
  const all = [...content, ...inPaths.flatMap(({ content }) => content)]
  return { total, read: [...new Map(all.map(operation => [pathOf(operation), operation])).values()] }
}

/** The entry that leads to all records of a group, if more match than are shown. */
const allOf = (
  group: string,
  total: number | undefined,
  shown: number,
  { what, path }: { what: string; path: string },
): Command[] =>
  total !== undefined && total > shown
    ? [
        {
          id: `all-${what}`,
          group,
          label: `Show all ${total.toLocaleString('en')} ${what}`,
          path,
          leadsToAll: true,
        },
      ]
    : []

const matches = (label: string, text: string) =>
  text
    .toLowerCase()
    .split(/\s+/)
    .every(word => label.toLowerCase().includes(word))
