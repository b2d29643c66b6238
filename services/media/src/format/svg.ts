import { type Size, Unreadable } from './size.ts'
import { NotXml, readXml, type XmlElement } from './xml.ts'

/** The size that browsers use for an image without one (CSS 2.2 §10.3.2). */
const DEFAULT: Size = { width: 300, height: 150 }

/** CSS pixels per unit (CSS Values §6), at the initial font size of 16 pixels. */
const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  px: 1,
  in: 96,
  cm: 96 / 2.54,
  mm: 96 / 25.4,
  q: 96 / 101.6,
  pt: 96 / 72,
  pc: 16,
  em: 16,
  rem: 16,
  ex: 8,
}
const LENGTH = /^\s*\+?((?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)(px|in|cm|mm|q|pt|pc|em|rem|ex)?\s*$/i

/**
 * The size of an SVG in UTF-8, rounded to whole CSS pixels.
 * @returns undefined when the file is not an SVG
 * @throws Unreadable when it is an SVG that is malformed or has no area
 */
export function svgSize(file: Buffer): Size | undefined {
  let isSvg = false
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(file)
    const root = readXml(text, name => {
      isSvg = name === 'svg' || name.endsWith(':svg')
      if (!isSvg) throw new NotXml('has another root element')
    })
    return sizeOf(root)
  } catch (error) {
    if (isSvg && error instanceof NotXml) throw new Unreadable(`is an SVG that ${error.message}`)
    if (error instanceof NotXml || error instanceof TypeError) return undefined
    throw error
  }
}

function sizeOf({ attributes }: XmlElement): Size {
  const width = length(attributes.get('width'))
  const height = length(attributes.get('height'))
  const box = viewBox(attributes.get('viewBox'))
  if (width === 0 || height === 0) throw new Unreadable('is an SVG without an area')
  if (width !== undefined && height !== undefined) return whole({ width, height })
  if (!box) return whole({ width: width ?? DEFAULT.width, height: height ?? DEFAULT.height })
  const ratio = box.width / box.height
  if (width !== undefined) return whole({ width, height: width / ratio })
  if (height !== undefined) return whole({ width: height * ratio, height })
  return whole(box)
}

const whole = ({ width, height }: Size): Size => ({
  width: Math.max(1, Math.round(width)),
  height: Math.max(1, Math.round(height)),
})

/** A length in CSS pixels; undefined when it is missing or relative to the context, such as a percentage. */
function length(value: string | undefined): number | undefined {
  const [, amount, unit = ''] = LENGTH.exec(value ?? '') ?? []
  return amount === undefined ? undefined : Number(amount) * (UNITS[unit.toLowerCase()] ?? 1)
}

function viewBox(value: string | undefined): Size | undefined {
  const [, , width = 0, height = 0] = (value ?? '')
    .trim()
    .split(/[\s,]+/)
    .map(Number)
  return width > 0 && height > 0 ? { width, height } : undefined
}
