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
  return new XmlReader(text, onRoot).read()
}

class XmlReader {
  readonly #text: string
  readonly #onRoot: (name: string) => void
  readonly #open: string[] = []
  #root: XmlElement | undefined
  #at = 0

  constructor(text: string, onRoot: (name: string) => void) {
    this.#text = text
    this.#onRoot = onRoot
  }

  read(): XmlElement {
    const text = this.#text
    if (FORBIDDEN.test(text)) throw new NotXml('has characters that XML does not allow')
    while (this.#at < text.length) {
      const at = this.#at
      if (text[at] !== '<') this.#characters()
      else if (text.startsWith('<!--', at)) this.#comment()
      else if (text.startsWith('<?', at)) this.#instruction()
      else if (text.startsWith('<![CDATA[', at)) this.#characterData()
      else if (text.startsWith('<!', at)) this.#documentType()
      else if (text.startsWith('</', at)) this.#endTag()
      else this.#startTag()
    }
    if (!this.#root || this.#open.length > 0) throw new NotXml('has no complete root element')
    return this.#root
  }

  #characters(): void {
    const next = this.#text.indexOf('<', this.#at)
    const run = this.#text.slice(this.#at, next === -1 ? this.#text.length : next)
    if (this.#open.length === 0 && run.trim() !== '') throw new NotXml('has text outside its root element')
    if (BARE_AMPERSAND.test(run) || run.includes(']]>')) throw new NotXml('has an unknown entity or a bare &')
    this.#at += run.length
  }

  #comment(): void {
    if (this.#through('-->', this.#at + 4, 'a comment').includes('--'))
      throw new NotXml('has -- within a comment')
  }

  #instruction(): void {
    const first = this.#at === 0
    const content = this.#through('?>', this.#at + 2, 'a processing instruction')
    if (/^xml[ \t\r\n]/i.test(content) && !first) throw new NotXml('has a misplaced XML declaration')
  }

  #documentType(): void {
    const name = this.#match(DOCTYPE)?.[1]
    if (!name || this.#root) throw new NotXml('has a misplaced or malformed DOCTYPE')
    this.#onRoot(name)
    if (this.#through('>', this.#at, 'its DOCTYPE').includes('['))
      throw new NotXml('has an internal DOCTYPE subset')
  }

  #characterData(): void {
    if (this.#open.length === 0) throw new NotXml('has text outside its root element')
    this.#through(']]>', this.#at + 9, 'a CDATA section')
  }

  #startTag(): void {
    const name = this.#match(START)?.[1]
    if (!name) throw new NotXml('has a < that starts no tag')
    if (this.#open.length === 0) {
      if (this.#root) throw new NotXml('has a second root element')
      this.#onRoot(name)
    }
    const attributes = this.#attributes()
    const end = this.#match(START_END)
    if (!end) throw new NotXml('has a malformed tag')
    this.#root ??= { name, attributes }
    if (!end[1] && this.#open.push(name) > DEEPEST) throw new NotXml(`nests more than ${DEEPEST} elements`)
  }

  #attributes(): Map<string, string> {
    const attributes = new Map<string, string>()
    for (let found = this.#match(ATTRIBUTE); found; found = this.#match(ATTRIBUTE)) {
      const [, key = '', quote = ''] = found
      const value = this.#through(quote, this.#at, 'an attribute')
      if (attributes.has(key)) throw new NotXml('gives an element the same attribute twice')
      if (value.includes('<')) throw new NotXml('has a < within an attribute')
      if (BARE_AMPERSAND.test(value)) throw new NotXml('has an unknown entity or a bare &')
      attributes.set(key, value)
    }
    return attributes
  }

  #endTag(): void {
    const name = this.#match(END)?.[1]
    if (name === undefined || this.#open.pop() !== name)
      throw new NotXml('closes an element that is not open')
  }

  /** Matches a pattern where the reader is, and advances over the match. */
  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)
    if (found) this.#at = pattern.lastIndex
    return found ?? undefined
  }

  /** Advances over the next occurrence of `end`. @returns the text from `from` to it */
  #through(end: string, from: number, what: string): string {
    const index = this.#text.indexOf(end, from)
    if (index === -1) throw new NotXml(`ends within ${what}`)
    this.#at = index + end.length
    return this.#text.slice(from, index)
  }
}
