import { useSyncExternalStore } from 'react'
import { session } from '../http/session.ts'

const KEY = 'gantry.recent-searches.'
const MOST = 8
const LONGEST = 200
const NONE: readonly string[] = []

let kept: { key: string; searches: readonly string[] } | undefined
const listeners = new Set<() => void>()

const keyOf = (user = session.current()?.user.id) => user && KEY + user

/** The searches of the user in this browser, newest first. They are forgotten when the user signs out. */
function recentSearches(): readonly string[] {
  const key = keyOf()
  if (!key) return NONE
  if (kept?.key !== key) kept = { key, searches: read(key) }
  return kept.searches
}

function read(key: string): readonly string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
    return Array.isArray(stored) ? stored.filter(text => typeof text === 'string').slice(0, MOST) : NONE
  } catch {
    return NONE
  }
}

/** Keeps a search that the user has used. */
export function keepSearch(search: string | undefined): void {
  const key = keyOf()
  const text = search?.trim().slice(0, LONGEST)
  if (!key || !text) return
  const searches = [text, ...recentSearches().filter(other => other !== text)].slice(0, MOST)
  kept = { key, searches }
  localStorage.setItem(key, JSON.stringify(searches))
  for (const listener of listeners) listener()
}

/** Forgets the searches of the user. */
export function forgetSearches(): void {
  const key = keyOf()
  if (!key) return
  localStorage.removeItem(key)
  kept = undefined
  for (const listener of listeners) listener()
}

// Another tab may have forgotten them.
session.subscribe(() => {
  if (!session.current()) kept = undefined
})

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useRecentSearches = (): readonly string[] => useSyncExternalStore(subscribe, recentSearches)
