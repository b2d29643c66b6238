import { inflateRawSync } from 'node:zlib'
import protobuf from 'protobufjs'
import {
  type Content,
  contentWith,
  DocumentInvalid,
  invalid,
  type Operation,
  operationWith,
  summaryOf,
  textOf,
} from './checked.ts'
import { decode, requireUtf8 } from './text.ts'

/** Whether a text begins like a file of Protocol Buffers, after comments. */
export const looksLikeProtobuf = (text: string): boolean => {
  let at = 0
  for (;;) {
    while (/[\s\ufeff]/.test(text.charAt(at))) at++
    const close = text.startsWith('//', at) ? '\n' : text.startsWith('/*', at) ? '*/' : undefined
    if (close === undefined) break
    const end = text.indexOf(close, at + 2)
    if (end === -1) return false
    at = end + close.length
  }
  const code = text.slice(at, at + 65_536)
  return (
    /^(?:syntax\s*=\s*["']proto[23]["']|edition\s*=\s*["']\d+["'])\s*;/.test(code) ||
    (/^(?:package\s+[\w.]+\s*;|import\s+["'])/.test(code) &&
      /^(?:message|service|enum)\s+\w+\s*\{/m.test(code))
  )
}

export const isZip = (bytes: Uint8Array) =>
  bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 || bytes[2] === 5)

const MAX_FILES = 1_000
/** As many as a document may have. @gantry/contracts would take 20 MB of each thread. */
const MAX_UNPACKED_BYTES = 20 * 1_048_576

/** @throws DocumentInvalid for wrong syntax */
export const protobufContent = (text: string): Content => contentOf([['', text]])

/** The content of the files of Protocol Buffers in a zip; undefined if it has none. @throws DocumentInvalid */
export function protobufZipContent(bytes: Uint8Array): Content | undefined {
  const files = textsIn(bytes)
  return files.length > 0 ? contentOf(files) : undefined
}

/** What the files of Protocol Buffers in a zip declare. @throws DocumentInvalid */
export const protobufZipRoots = (bytes: Uint8Array): protobuf.Root[] =>
  textsIn(bytes).map(([name, text]) => protobufRoot(text, name))

function textsIn(bytes: Uint8Array): [name: string, text: string][] {
  const names = unlessDamaged(() => filesIn(bytes)).filter(({ name }) => name.endsWith('.proto'))
  let left = MAX_UNPACKED_BYTES
  return names.map(({ name, read }): [string, string] => {
    const content = unlessDamaged(() => read(left))
    left -= content.length
    const decoded = decode(content)
    if (!decoded) throw invalid(`${name} is not text`)
    return [name, requireUtf8(decoded)]
  })
}

function contentOf(files: readonly [name: string, text: string][]): Content {
  const operations: Operation[] = []
  const schemas: string[] = []
  let title: string | null = null
  for (const [name, text] of files) {
    const root = protobufRoot(text, name)
    const visit = (part: protobuf.ReflectionObject) => {
      if (part instanceof protobuf.Service) operations.push(...operationsOf(part))
      else if (part instanceof protobuf.Type || part instanceof protobuf.Enum) schemas.push(nameOf(part))
      if ('nestedArray' in part)
        for (const nested of (part as protobuf.NamespaceBase).nestedArray) visit(nested)
    }
    visit(root)
    title ??= textOf(/^\s*package\s+([\w.]+)\s*;/m.exec(text)?.[1])
  }
  return contentWith({ title, operations, schemas })
}

const nameOf = ({ fullName }: protobuf.ReflectionObject) => textOf(fullName.replace(/^\./, '')) ?? ''

const operationsOf = (service: protobuf.Service): Operation[] =>
  service.methodsArray.map(method =>
    operationWith({
      method: 'RPC',
      path: `${nameOf(service)}/${method.name}`,
      operationId: textOf(method.name),
      summary: summaryOf(method.comment),
      deprecated: method.options?.deprecated === true,
    }),
  )

/** What a file of Protocol Buffers declares. @throws DocumentInvalid for wrong syntax */
export function protobufRoot(text: string, name = ''): protobuf.Root {
  const root = new protobuf.Root()
  try {
    protobuf.parse(text, root, { keepCase: true, alternateCommentMode: true })
    return root
  } catch (error) {
    if (error instanceof RangeError || error instanceof DocumentInvalid) throw error
    // The parser reads beyond the end of a file that is too short.
    const message = error instanceof TypeError ? 'the file ends too early' : (error as Error).message
    const line = Number(/line (\d+)/.exec(message)?.[1] ?? 0)
    const reason = message.replace(/ ?\(?(?:[^\s(]*, )?line \d+\)?/, '')
    throw invalid(name ? `${name}: ${reason}` : reason, line ? { line } : {})
  }
}

interface ZippedFile {
  name: string
  /** @throws DocumentInvalid, RangeError when it is damaged or has more than `most` bytes */
  read(most: number): Uint8Array
}

const END = 0x06054b50
const ENTRY = 0x02014b50

/** Reads a zip, whose places may be outside of it. @throws DocumentInvalid */
function unlessDamaged<Result>(read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    if (error instanceof RangeError) throw invalid('the zip is damaged')
    throw error
  }
}

/** The files of a zip, by its central directory (APPNOTE.TXT §4.3.12). @throws DocumentInvalid, RangeError */
function filesIn(bytes: Uint8Array): ZippedFile[] {
  const zip = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let end = zip.length - 22
  while (end >= 0 && end > zip.length - 65_558 && zip.readUInt32LE(end) !== END) end--
  if (end < 0 || zip.readUInt32LE(end) !== END) throw invalid('the zip is damaged: its directory is missing')
  const count = zip.readUInt16LE(end + 10)
  if (count > MAX_FILES) throw invalid(`the zip has more than ${MAX_FILES} files`)
  const files: ZippedFile[] = []
  let at = zip.readUInt32LE(end + 16)
  for (let index = 0; index < count; index++) {
    if (zip.readUInt32LE(at) !== ENTRY) throw invalid('the directory of the zip is damaged')
    const lengths = [28, 30, 32].map(place => zip.readUInt16LE(at + place))
    const [nameLength = 0, extra = 0, comment = 0] = lengths
    const name = zip.toString('utf8', at + 46, at + 46 + nameLength)
    requireInside(name)
    if (!name.endsWith('/')) files.push(fileIn(zip, at, name))
    at += 46 + nameLength + extra + comment
  }
  return files
}

function requireInside(name: string): void {
  const parts = name.split(/[\\/]/)
  if (/^[\\/]|^[a-z]:|\0/i.test(name) || parts.includes('..'))
    throw invalid(`the zip has a path that leaves it: ${name.slice(0, 100)}`)
}

function fileIn(zip: Buffer, at: number, name: string): ZippedFile {
  const [flags, method, packed] = [
    zip.readUInt16LE(at + 8),
    zip.readUInt16LE(at + 10),
    zip.readUInt32LE(at + 20),
  ]
  const header = zip.readUInt32LE(at + 42)
  return {
    name,
    read(most) {
      if (flags & 1) throw invalid(`${name} in the zip is encrypted`)
      const start = header + 30 + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28)
      const content = zip.subarray(start, start + packed)
      const tooLarge = () =>
        invalid(`the files of the zip have more than ${MAX_UNPACKED_BYTES} bytes together`)
      if (method === 0) {
        if (content.length > most) throw tooLarge()
        return content
      }
      if (method !== 8) throw invalid(`${name} in the zip is compressed by an unknown method`)
      try {
        return inflateRawSync(content, { maxOutputLength: Math.max(1, most) })
      } catch (error) {
        throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
          ? tooLarge()
          : invalid(`${name} in the zip is damaged`)
      }
    },
  }
}
