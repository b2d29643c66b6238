const KEPT_MS = 60_000

/** Has the browser save a file. */
export function save(content: Blob, name: string): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser reads the content after the click.
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS)
}
