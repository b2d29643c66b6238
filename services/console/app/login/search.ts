interface LoginSearch {
  /** Path of the page to open after the login, within the console. */
  next?: string
}

/** Leaves out a path that leaves the console, as the browser resolves it, or that programs resolve differently. */
export function readLoginSearch({ next }: Record<string, unknown>): LoginSearch {
  if (typeof next !== 'string' || !next.startsWith('/')) return {}
  const { pathname, search, hash } = new URL(`/console${next}`, 'http://localhost')
  if (!pathname.startsWith('/console/') || /\/\/|%2f|%5c/i.test(pathname)) return {}
  return { next: pathname.slice('/console'.length) + search + hash }
}
