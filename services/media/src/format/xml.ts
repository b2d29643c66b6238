/** The text is not well-formed XML, or uses an unsupported feature. The message completes "an SVG that …". */
export class NotXml extends Error {}

export interface XmlElement {
  name: string
  /** Values as written, with unresolved references. */
  attributes: ReadonlyMap<string, string>
}

/** Maximum nesting depth, as in libxml2, which browsers and converters use. */
const DEEPEST = 256

// Sticky expressions without nested repetition, so that the time is linear in the length of the text.
const NAME = String.raw`[\p{L}_:][\p{L}\p{N}\p{M}_:.·-]*`
const START = new RegExp(`<(${NAME})`, 'uy')
const ATTRIBUTE = new RegExp(`[ \t\r\n]+(${NAME})[ \t\r\n]*=[ \t\r\n]*(["'])`, 'uy')
const START_END = /[ \t\r\n]*(\/?)>/y
const END = new RegExp(`</(${NAME})[ \t\r\n]*>`, 'uy')
const DOCTYPE = new RegExp(`<!DOCTYPE[ \t\r\n]+(${NAME})`, 'uy')
const BARE_AMPERSAND = /&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-fA-F]{1,6});)/
const FORBIDDEN = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u

/**
 * Checks in one pass that a text is well-formed (XML 1.0 §2.1) and returns its root element. A document type declaration
 * may name an external subset, which is not loaded. One with an internal subset is refused, so that no entity is expanded.
 * @param onRoot called with the name in the DOCTYPE, if there is one, and with the name of the root element, each before
 *   the text after it is read
 * @throws NotXml
 */
export function readXml(text: string, onRoot: (name: string) => void): XmlElement {
  let root: XmlElement | undefined
  const open: string[] = []
  let at = 0

  const match = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found) at = pattern.lastIndex
    return found ?? undefined
  }
  const through = (end: string, from: number, what: string): string => {
    const index = text.indexOf(end, from)
    if (index === -1) throw new NotXml(`ends within ${what}`)
    at = index + end.length
    return text.slice(from, index)
  }

  const characters = () => {
    const next = text.indexOf('<', at)
    const run = text.slice(at, next === -1 ? text.length : next)
    if (open.length === 0 && run.trim() !== '') throw new NotXml('has text outside its root element')
    if (BARE_AMPERSAND.test(run) || run.includes(']]>')) throw new NotXml('has an unknown entity or a bare &')
    at += run.length
  }

  const comment = () => {
    if (through('-->', at + 4, 'a comment').includes('--')) throw new NotXml('has -- within a comment')
  }

  const instruction = () => {
    const first = at === 0
    const content = through('?>', at + 2, 'a processing instruction')
    if (/^xml[ \t\r\n]/i.test(content) && !first) throw new NotXml('has a misplaced XML declaration')
  }

  const documentType = () => {
    const name = match(DOCTYPE)?.[1]
    if (!name || root) throw new NotXml('has a misplaced or malformed DOCTYPE')
    onRoot(name)
    if (through('>', at, 'its DOCTYPE').includes('[')) throw new NotXml('has an internal DOCTYPE subset')
  }

  const characterData = () => {
    if (open.length === 0) throw new NotXml('has text outside its root element')
    through(']]>', at + 9, 'a CDATA section')
  }

  const startTag = () => {
    const name = match(START)?.[1]
    if (!name) throw new NotXml('has a < that starts no tag')
    if (open.length === 0) {
      if (root) throw new NotXml('has a second root element')
      onRoot(name)
    }
    const attributes = new Map<string, string>()
    for (let found = match(ATTRIBUTE); found; found = match(ATTRIBUTE)) {
      const [, key = '', quote = ''] = found
      const value = through(quote, at, 'an attribute')
      if (attributes.has(key)) throw new NotXml('gives an element the same attribute twice')
      if (value.includes('<')) throw new NotXml('has a < within an attribute')
      if (BARE_AMPERSAND.test(value)) throw new NotXml('has an unknown entity or a bare &')
      attributes.set(key, value)
    }
    const end = match(START_END)
    if (!end) throw new NotXml('has a malformed tag')
    root ??= { name, attributes }
    if (!end[1] && open.push(name) > DEEPEST) throw new NotXml(`nests more than ${DEEPEST} elements`)
  }

  const endTag = () => {
    const name = match(END)?.[1]
    if (name === undefined || open.pop() !== name) throw new NotXml('closes an element that is not open')
  }

  if (FORBIDDEN.test(text)) throw new NotXml('has characters that XML does not allow')
  while (at < text.length) {
    if (text[at] !== '<') characters()
    else if (text.startsWith('<!--', at)) comment()
    else if (text.startsWith('<?', at)) instruction()
    else if (text.startsWith('<![CDATA[', at)) characterData()
    else if (text.startsWith('<!', at)) documentType()
    else if (text.startsWith('</', at)) endTag()
    else startTag()
  }
  if (!root || open.length > 0) throw new NotXml('has no complete root element')
  return root
}
