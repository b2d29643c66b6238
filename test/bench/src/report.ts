/** One line of the report: the measured value and its target. */
export interface Figure {
  name: string
  reached: string
  target: string
  met: boolean | undefined
}

const live = process.stdout.isTTY === true

/** Shows what is running, on stderr, so that stdout contains only the table. */
export const progress = (line: string) => process.stderr.write(live ? `\r${line}\x1b[K` : `${line}\n`)

export function table(figures: readonly Figure[]): string {
  const rows = [
    ['figure', 'reached', 'target', ''],
    ...figures.map(({ name, reached, target, met }) => [
      name,
      reached,
      target,
      met === undefined ? '' : met ? 'met' : 'missed',
    ]),
  ]
  const widths = [0, 1, 2].map(column => Math.max(...rows.map(row => (row[column] ?? '').length)))
  return rows
    .map(row =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
