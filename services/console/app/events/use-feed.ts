import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { createFeed, type Feed, type FeedState } from './feed.ts'
import type { EventsSearch } from './search.ts'

/** The feed of a search. Another search or another round begins a new one. */
export function useFeed(search: EventsSearch, round: number): { feed: Feed; state: FeedState } {
  const key = JSON.stringify({ search, round })
  const feed = useMemo(() => createFeed(JSON.parse(key).search), [key])
  useEffect(() => feed.connect(), [feed])
  return { feed, state: useSyncExternalStore(feed.subscribe, feed.state) }
}
