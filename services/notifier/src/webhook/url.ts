/** A webhook's URL as others may read it: the query and the user may be secrets that its receiver checks. */
export function publicUrl(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}
