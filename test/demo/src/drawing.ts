import { createHash } from 'node:crypto'

const escaped = (text: string) => text.replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`)

/** Draws an image for an API: a symmetric pattern and initials, both determined by the name. @returns the SVG text */
export function draw(name: string): string {
  const hash = createHash('sha256').update(name).digest()
  const hue = (hash.readUInt16BE(0) * 360) / 65_536
  const cells: string[] = []
  for (let row = 0; row < 5; row++) {
    for (let column = 0; column < 3; column++) {
      if ((hash[2 + row * 3 + column] ?? 0) % 2 === 0) continue
      for (const x of new Set([column, 4 - column])) {
        cells.push(`<rect x="${16 + x * 19.2}" y="${16 + row * 19.2}" width="19.2" height="19.2"/>`)
      }
    }
  }
  const initials = escaped(
    (name.match(/[\p{L}\p{N}]+/gu) ?? ['?'])
      .slice(0, 2)
      .map(word => [...word][0])
      .join('')
      .toUpperCase(),
  )
  return [
    '<svg xmlns="http://www.w3.org/2000/svg" width="128" height="128" viewBox="0 0 128 128">',
    `<rect width="128" height="128" rx="20" fill="hsl(${hue.toFixed(0)} 45% 92%)"/>`,
    `<g fill="hsl(${hue.toFixed(0)} 55% 55%)">${cells.join('')}</g>`,
    `<text x="64" y="78" font-family="sans-serif" font-size="40" font-weight="bold" text-anchor="middle" fill="hsl(${hue.toFixed(0)} 60% 20%)">${initials}</text>`,
    '</svg>',
  ].join('')
}
