import type { Query, Schemas, Sort } from '../http/schemas.ts'
import { ROLES } from './roles.ts'

type Role = Schemas['Role']
type UserStatus = Schemas['User']['status']

/** The state of a list in the URL: `sort` as in the REST interface, e.g. `username,desc`. */
interface ListSearch {
  sort?: string
  page?: number
}

/** The state of the list of users in the URL. */
export interface UserSearch extends ListSearch {
  text?: string
  role?: Role
  status?: UserStatus
}

export const STATUSES = ['ACTIVE', 'INACTIVE'] as const satisfies readonly UserStatus[]
const USER_SORT = /^(username|displayName|email|role|status|createdAt),(asc|desc)$/
const TOKEN_SORT = /^(name|createdAt|validUntil),(asc|desc)$/

/** Reads the state from the URL. Values that it cannot use are left out. */
export function readUserSearch(search: Record<string, unknown>): UserSearch {
  const { text, role, status } = search
  const known: UserSearch = readListSearch(search, USER_SORT)
  // The router reads a text such as 2026 as a number.
  if ((typeof text === 'string' && text !== '') || typeof text === 'number') known.text = String(text)
  const knownRole = ROLES.find(name => name === role)
  if (knownRole) known.role = knownRole
  const knownStatus = STATUSES.find(name => name === status)
  if (knownStatus) known.status = knownStatus
  return known
}

/** Reads the state of the list of access tokens from the URL. */
export const readTokenSearch = (search: Record<string, unknown>): ListSearch =>
  readListSearch(search, TOKEN_SORT)

function readListSearch({ sort, page }: Record<string, unknown>, sorts: RegExp): ListSearch {
  const known: ListSearch = {}
  if (typeof sort === 'string' && sorts.test(sort)) known.sort = sort
  if (typeof page === 'number' && Number.isInteger(page) && page > 1) known.page = page
  return known
}

/** The query of the REST interface for a state of the list. */
export function userQuery({ text, role, status, sort, page = 1 }: UserSearch, size: number) {
  return {
    size,
    page,
    ...(text && { text }),
    ...(role && { role }),
    ...(status && { status }),
    ...(sort && { sort: [sort as Sort<'listUsers'>] }),
  } satisfies Query<'listUsers'>
}
