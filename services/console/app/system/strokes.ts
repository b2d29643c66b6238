/** The colours of lines, as names of Mantine's palettes. */
const COLORS = ['cyan', 'orange', 'grape', 'green', 'red', 'indigo', 'yellow', 'pink']
/** Lengths of strokes and gaps, so that lines differ without colours as well. */
const DASHES: readonly (readonly number[])[] = [[], [6, 3], [2, 3]]

export interface Stroke {
  /** Name of a variable of CSS. */
  color: string
  dash: readonly number[]
}

/** The stroke of the line with a number, in a theme. */
export function strokeOf(index: number, scheme: 'light' | 'dark'): Stroke {
  const color = COLORS[index % COLORS.length]
  return {
    color: `--mantine-color-${color}-${scheme === 'light' ? 8 : 4}`,
    dash: DASHES[index % DASHES.length] ?? [],
  }
}
