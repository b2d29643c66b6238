import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { against } from './against.ts'
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
    against: { type: 'string' },
    receiver: { type: 'string' },
    json: { type: 'string' },
  },
})
const options: Options = {
  ...(values.minutes && { minutes: Number(values.minutes) }),
}

function refuse(reason: string): never {
  process.stderr.write(`bench: ${reason}\n`)
  process.exit(2)
}

if (options.minutes !== undefined && !(options.minutes > 0))
  refuse(`--minutes takes a number greater than 0, not ${values.minutes}`)
const unknown = asked.filter(name => !(name in parts))
if (unknown.length > 0)
  refuse(`there is no ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}`)
for (const [option, value] of Object.entries({ against: values.against, receiver: values.receiver }))
  if (value !== undefined && !/^https?:$/.test(URL.parse(value)?.protocol ?? ''))
    refuse(`--${option} takes a URL such as https://gantry.example.com, not ${value}`)
if (values.receiver && !URL.parse(values.receiver)?.port) refuse('--receiver needs a URL with a port')
if (values.against && asked.length > 0) refuse('--against has no parts')

async function measured(): Promise<Figure[]> {
  if (values.against) {
    const url = values.against.replace(/\/$/, '')
    const receiver = values.receiver ? new URL(values.receiver) : undefined
    return against({ url, ...(receiver && { receiver }), ...options })
  }
  const figures: Figure[] = []
  for (const [name, measure] of Object.entries(parts))
    if (asked.length === 0 || asked.includes(name)) figures.push(...(await measure(options)))
  return figures
}

const figures = await measured().catch((error: unknown) => {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : error}\n`)
  process.exit(1)
})
const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}`
if (values.json) {
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim()
  const result = {
    time: new Date(),
    commit,
    node: process.version,
    machine,
    against: values.against,
    figures,
  }
  writeFileSync(resolve(process.env.INIT_CWD ?? '.', values.json), `${JSON.stringify(result, null, 2)}\n`)
}
process.stderr.write('\n')
process.stdout.write(`Node ${process.version}, ${machine}\n`)
if (!values.against)
  process.stdout.write('Ratios and times are medians, with the smallest and the largest of the rounds.\n')
process.stdout.write(`\n${table(figures)}\n`)
