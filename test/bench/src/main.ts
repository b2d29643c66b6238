import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { capacity } from './capacity.ts'
import { cluster } from './cluster.ts'
import { webConsole } from './console.ts'
import { documents } from './documents.ts'
import { events } from './events.ts'
import { exports } from './exports.ts'
import { log } from './log.ts'
import { logins } from './logins.ts'
import { reads } from './reads.ts'
import { rebuild } from './rebuild.ts'
import { type Figure, table } from './report.ts'
import { search } from './search.ts'
import { webhooks } from './webhooks.ts'
import { writes } from './writes.ts'

interface Options {
  /** Duration of the steady load of webhooks. Default: 20 seconds. */
  minutes?: number
}

const parts: Record<string, (options: Options) => Promise<Figure[]>> = {
  reads,
  writes,
  search,
  log,
  cluster,
  webhooks,
  logins,
  rebuild,
  events,
  exports,
  documents,
  capacity,
  console: webConsole,
}
const { positionals: asked, values } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string' },
  },
})
const options: Options = {
  ...(values.minutes && { minutes: Number(values.minutes) }),
}
if (options.minutes !== undefined && !(options.minutes > 0)) {
  process.stderr.write(`bench: --minutes takes a number greater than 0, not ${values.minutes}\n`)
  process.exit(2)
}
const unknown = asked.filter(name => !(name in parts))
if (unknown.length > 0) {
  process.stderr.write(
    `bench: there is no ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}\n`,
  )
  process.exit(2)
}

const figures: Figure[] = []
for (const [name, measure] of Object.entries(parts)) {
  if (asked.length === 0 || asked.includes(name)) figures.push(...(await measure(options)))
}
process.stderr.write('\n')
process.stdout.write(
  `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}\n`,
)
process.stdout.write('Ratios and times are medians, with the smallest and the largest of the rounds.\n\n')
process.stdout.write(`${table(figures)}\n`)
