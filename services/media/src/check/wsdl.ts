import { SaxesParser, type SaxesTagNS } from 'saxes'
import {
  type Content,
  contentWith,
  invalid,
  type Operation,
  operationWith,
  summaryOf,
  textOf,
} from './checked.ts'

const WSDL = { 'http://schemas.xmlsoap.org/wsdl/': '1.1', 'http://www.w3.org/ns/wsdl': '2.0' } as const
const XSD = 'http://www.w3.org/2001/XMLSchema'
const MAX_DEPTH = 256

/** Whether a text begins like a WSDL document, even if the rest is not well-formed. */
export const looksLikeWsdl = (text: string): boolean => {
  const root = afterProlog(text.slice(0, 262_144)).slice(0, 16_384)
  return /^<(?:[\w.-]{1,100}:)?(?:definitions|description)[\s>]/.test(root) && wsdlVersion(root) !== undefined
}

/** The text from the first element on, without declarations, comments and white space before it. */
function afterProlog(text: string): string {
  let at = text.startsWith('\ufeff') ? 1 : 0
  for (;;) {
    while (/\s/.test(text.charAt(at))) at++
    if (!text.startsWith('<!', at) && !text.startsWith('<?', at)) return text.slice(at)
    const subset = text.startsWith('<!DOCTYPE', at) ? text.indexOf('[', at) : -1
    const hasSubset = subset !== -1 && subset < text.indexOf('>', at)
    const end = text.startsWith('<!--', at) ? '-->' : hasSubset ? ']>' : '>'
    const found = text.indexOf(end, at)
    if (found === -1) return text.slice(at)
    at = found + end.length
  }
}

/** The version of WSDL by the namespace of a root element. */
const wsdlVersion = (text: string): string | undefined => {
  const root = text.slice(0, text.indexOf('>') + 1)
  return Object.entries(WSDL).find(([namespace]) => root.includes(namespace))?.[1]
}

/** The content of a WSDL document. Entities of a document type are not expanded. @throws DocumentInvalid */
export function wsdlContent(text: string): Content {
  const parser = new SaxesParser({ xmlns: true, position: true })
  const open: SaxesTagNS[] = []
  const operations: Operation[] = []
  const schemas: string[] = []
  let title: string | null = null
  let documentation: string | undefined
  const fault = (message: string) =>
    invalid(message, { line: parser.line, column: Math.max(1, parser.columnIndex) })
  parser.on('error', error => {
    throw fault(error.message.replace(/^\d+:\d+: /, '').replace(/\.$/, ''))
  })
  parser.on('doctype', doctype => {
    if (doctype.includes('[')) throw fault('a document type with an internal subset is not accepted')
  })
  parser.on('text', text => {
    if (open.at(-1)?.local === 'documentation') documentation ??= text.trim()
  })
  parser.on('opentag', tag => {
    const parent = open.at(-1)
    open.push(tag)
    if (open.length > MAX_DEPTH) throw fault(`elements are more than ${MAX_DEPTH} levels deep`)
    const name = textOf(tag.attributes.name?.value)
    const isWsdl = tag.uri in WSDL
    if (open.length === 1) title = name
    if (isWsdl && tag.local === 'service') title = name ?? title
    if (tag.uri === XSD && parent?.uri === XSD && parent.local === 'schema' && name) schemas.push(name)
    if (
      isWsdl &&
      tag.local === 'operation' &&
      (parent?.local === 'portType' || parent?.local === 'interface')
    ) {
      documentation = undefined
      const port = textOf(parent.attributes.name?.value) ?? ''
      operations.push(operationWith({ method: 'RPC', path: `${port}/${name ?? ''}`, operationId: name }))
    }
  })
  parser.on('closetag', tag => {
    open.pop()
    const last = operations.at(-1)
    if (tag.local === 'operation' && last && documentation) {
      last.summary = summaryOf(documentation)
      documentation = undefined
    }
  })
  parser.write(text.replace(/^\ufeff/, '')).close()
  return contentWith({ title, operations, schemas })
}
