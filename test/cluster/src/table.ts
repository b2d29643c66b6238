import type { Replica } from './replica.ts'

/** The table of the processes: one line of headings, then one line per process. */
export function table(processes: readonly Replica[]): string[] {
  const rows = processes.map(({ name, pid, port, internalPort, state }) => [
    name,
    String(pid() ?? ''),
    String(port),
    String(internalPort ?? '-'),
    state(),
  ])
  const all = [['process', 'pid', 'port', 'internal', 'state'], ...rows]
  const widths = [0, 1, 2, 3, 4].map(column => Math.max(...all.map(row => row[column]?.length ?? 0)))
  return all.map(row =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
