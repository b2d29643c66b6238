import type { DocumentKind, Finding } from '@gantry/contracts'
import { asyncApiContent, asyncApiFindings, asyncApiVersion } from './asyncapi.ts'
import {
  aboutOf,
  type Checked,
  type CheckOptions,
  type Content,
  contentWith,
  DocumentInvalid,
  invalid,
  objectOf,
} from './checked.ts'
import { checkIntrospection, checkSdl, introspectionOf, looksLikeGraphQl } from './graphql.ts'
import { isJsonSchema, isPostman, jsonSchema, postman } from './json-kinds.ts'
import { openApiContent, openApiFindings, openApiVersion } from './openapi.ts'
import { isZip, looksLikeProtobuf, protobufContent, protobufZipContent } from './protobuf.ts'
import { type Found, located } from './schema.ts'
import { type Decoded, decode, requireUtf8 } from './text.ts'
import { readTree, type Tree } from './tree.ts'
import { looksLikeWsdl, wsdlContent } from './wsdl.ts'

/**
 * Tells the kind of a document by its content, checks it, and extracts what it says. A document claims a kind by its first
 * lines or members; then it must have the syntax of that kind. What claims none is `other`.
 * @param release called once the bytes are decoded and no longer needed
 * @throws DocumentInvalid
 */
export function checkDocument(
  bytes: Uint8Array,
  { kind: wanted, charset, mustParse = false }: CheckOptions = {},
  release = () => {},
): Checked {
  try {
    if (bytes.length === 0) throw invalid('the document is empty')
    const checked = binary(bytes) ?? textual(decodeAll(bytes, charset, release), wanted, mustParse)
    const found = checked ?? made('other', 'application/octet-stream', contentWith())
    if (wanted !== undefined && found.kind !== wanted)
      throw invalid(`the content is ${found.kind}, not ${wanted}`)
    return found
  } catch (error) {
    if (error instanceof RangeError && /call stack/.test(error.message))
      throw invalid('the document is nested too deeply')
    throw error
  }
}

function decodeAll(bytes: Uint8Array, charset: string | undefined, release: () => void) {
  const decoded = decode(bytes, charset)
  release()
  return decoded
}

const made = (
  kind: DocumentKind,
  mediaType: string,
  content: Content,
  findings: Finding[] = [],
): Checked => ({
  kind,
  mediaType,
  content,
  findings,
})

function binary(bytes: Uint8Array): Checked | undefined {
  if (!isZip(bytes)) return undefined
  const content = protobufZipContent(bytes)
  return content && made('protobuf', 'application/zip', content)
}

const CLAIMING = /^["']?(openapi|swagger|asyncapi)["']?\s*:/
/** Lines of a mapping in block style: members, what is in them, comments, markers, and nothing. */
const BLOCK_LINE = /^(?:[\s#%}\]-]|["'\w$.]["'\w$. -]*:|$)/

/** Whether a top-level member claims a kind, in JSON or in YAML, even if the rest cannot be read. */
function claims(text: string): boolean {
  const source = text.replace(/^\ufeff/, '').slice(0, 1_048_576)
  if (/^\s*\{/.test(source)) return claimsInFlow(source)
  for (let at = 0; at < source.length; at = source.indexOf('\n', at) + 1 || source.length) {
    const line = source.slice(at, at + 100).split('\n', 1)[0] ?? ''
    if (CLAIMING.test(line)) return true
    if (!BLOCK_LINE.test(line)) return false
  }
  return false
}

/** Looks at the members of the outermost object only. */
function claimsInFlow(source: string): boolean {
  let depth = 0
  for (let at = 0; at < source.length; at++) {
    const character = source.charAt(at)
    if (character === '{' || character === '[') depth++
    else if (character === '}' || character === ']') depth--
    else if (character === '"') {
      if (depth === 1 && CLAIMING.test(source.slice(at, at + 100))) return true
      for (at++; at < source.length && source[at] !== '"'; at++) if (source[at] === '\\') at++
    }
  }
  return false
}

function textual(
  decoded: Decoded | undefined,
  wanted: DocumentKind | undefined,
  mustParse: boolean,
): Checked | undefined {
  if (!decoded) return undefined
  const { text } = decoded
  if (looksLikeWsdl(text)) return made('wsdl', 'application/wsdl+xml', wsdlContent(requireUtf8(decoded)))
  if (looksLikeProtobuf(text))
    return made('protobuf', 'text/x-protobuf', protobufContent(requireUtf8(decoded)))
  if (wanted === 'graphql' || looksLikeGraphQl(text)) {
    if (!/^\s*\{/.test(text)) {
      const { content, findings } = checkSdl(requireUtf8(decoded))
      return made('graphql', 'application/graphql', content, findings)
    }
  }
  const isClaimed = claims(text)
  let tree: Tree | undefined
  try {
    if (isClaimed) requireUtf8(decoded)
    if (isClaimed || mayBeTree(text)) tree = readTree(text)
  } catch (error) {
    const isWanted = wanted !== undefined && wanted !== 'other' && wanted !== 'markdown'
    const isRequired = isClaimed || isWanted || (mustParse && beginsAsObject(text))
    if (isRequired || !(error instanceof DocumentInvalid || error instanceof RangeError)) throw error
  }
  const structured = tree && structuredOf(tree, decoded)
  if (structured) return structured
  if (wanted === 'markdown' || isMarkdown(text))
    return made('markdown', 'text/markdown; charset=utf-8', markdown(requireUtf8(decoded)))
  return undefined
}

const beginsAsObject = (text: string) => /^\ufeff?\s*\{/.test(text)

/** Whether a text is an object in JSON, or could be a mapping in YAML: not a prose text that would be parsed in vain. */
const mayBeTree = (text: string) =>
  beginsAsObject(text) || /^\s*["']?[$\w][\w.$ -]*["']?\s*:(?:\s|$)/m.test(text.slice(0, 65_536))

function structuredOf(tree: Tree, decoded: Decoded): Checked | undefined {
  const root = objectOf(tree.value)
  const { syntax } = tree
  const typed = (
    kind: DocumentKind,
    mediaType: string,
    { content, found }: { content: Content; found: readonly Found[] },
  ) => {
    requireUtf8(decoded)
    return { ...made(kind, mediaType, content, located(tree, found)), about: aboutOf(root) }
  }
  try {
    if ('openapi' in root || 'swagger' in root) {
      const version = openApiVersion(root)
      const part = { content: openApiContent(root), found: openApiFindings(root, version) }
      return typed('openapi', `application/vnd.oai.openapi+${syntax};version=${version}`, part)
    }
    if ('asyncapi' in root) {
      const version = asyncApiVersion(root)
      const part = { content: asyncApiContent(root), found: asyncApiFindings(root, version) }
      return typed('asyncapi', `application/vnd.aai.asyncapi+${syntax};version=${version}`, part)
    }
  } catch (error) {
    if (!(error instanceof DocumentInvalid)) throw error
    const pointers = error.errors.flatMap(({ pointer }) => pointer ?? [])
    const places = tree.locate(pointers)
    throw new DocumentInvalid(error.errors.map(one => ({ ...one, ...places.get(one.pointer ?? '') })))
  }
  if (isPostman(root)) return typed('postman', 'application/json', postman(root))
  if (isJsonSchema(root)) return typed('json-schema', `application/schema+${syntax}`, jsonSchema(root))
  const introspection = syntax === 'json' ? introspectionOf(root) : undefined
  if (!introspection) return undefined
  requireUtf8(decoded)
  const { content, findings } = checkIntrospection(introspection)
  return made('graphql', 'application/json', content, findings)
}

const HEADING = /^(?:#{1,6}[ \t]+\S|\S[^\n]*\n(?:={3,}|-{3,})\s*$)/m

/** Whether a text has a heading of Markdown or a fenced block or a link, and does not begin as HTML or another program's text. */
const isMarkdown = (text: string) => {
  const start = text.slice(0, 262_144).replace(/^\ufeff/, '')
  return !/^\s*[<{[]|^#!/.test(start) && (HEADING.test(start) || /^```|\[[^\]\n]+\]\([^)\s]+\)/m.test(start))
}

const markdown = (text: string): Content => {
  const [, atx, setext] = /^#[ \t]+(.+?)[ \t#]*$|^(\S[^\n]*)\n={3,}\s*$/m.exec(text) ?? []
  return contentWith({ title: atx ?? setext })
}
