const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'])

/**
 * A place in a document, as a person names it.
 * @param pointer JSON Pointer (RFC 6901), e.g. `/paths/~1pets~1{id}/get/responses`
 * @returns e.g. `GET /pets/{id} › responses`
 */
export function placeText(pointer: string): string {
  const parts = pointer
    .replace(/^#?\//, '')
    .split('/')
    .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const [paths, path, method = ''] = parts
  const isOperation = paths === 'paths' && path !== undefined && METHODS.has(method)
  return (isOperation ? [`${method.toUpperCase()} ${path}`, ...parts.slice(3)] : parts).join(' › ')
}
