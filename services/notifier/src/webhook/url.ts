/** The URL of a webhook without query and user, which may be secrets between sender and receiver. */
export function withoutSecrets(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}
