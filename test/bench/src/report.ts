import { shown, spread } from './statistics.ts'

/** One line of the report: the measured value and its target. */
export interface Figure {
  name: string
  reached: string
  target: string
  met: boolean | undefined
}

/** A figure whose median has to reach a number. */
export function atLeast(name: string, values: readonly number[], least: number, unit?: string): Figure {
  const reached = spread(values)
  const target = `at least ${least.toLocaleString('en')}`
  return { name, reached: shown(reached, unit), target, met: reached.median >= least }
}

/** A figure whose median has to stay below a number, or to be equal to it. */
export function atMost(name: string, values: readonly number[], most: number, unit?: string): Figure {
  const reached = spread(values)
  return {
    name,
    reached: shown(reached, unit),
    target: `at most ${most}${unit ?? ''}`,
    met: reached.median <= most,
  }
}

/** A figure that is compared with nothing. */
export const withoutTarget = (name: string, reached: string): Figure => ({
  name,
  reached,
  target: 'no target',
  met: undefined,
})

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
