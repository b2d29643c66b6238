import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { apis } from '@gantry/catalog'
import { sqliteReadModels } from '@gantry/embedded'
import { inFolder } from './processes.ts'
import { type Figure, progress } from './report.ts'
import { seed } from './sample-apis.ts'

const DOCUMENTS = Number(process.env.DOCUMENTS ?? 1_000_000)
/** Number of documents without events in the log, which the rebuild has to remove. */
const STRANGERS = 10_000
const MOST_MEBIBYTES = 300

interface Measured {
  idle: number
  peak: number
  seconds: number
}

const PROGRAM = fileURLToPath(new URL('./rebuilder.ts', import.meta.url))

async function rebuilder(folder: string, mode: 'build' | 'measure'): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, folder, mode])
  return stdout
}

/** (i) Rebuild of a million documents: its memory in addition to that of the idle process. */
export async function rebuild(): Promise<Figure[]> {
  return inFolder(async folder => {
    progress(`(i) writes the events of ${DOCUMENTS} APIs`)
    await seed(folder, DOCUMENTS)
    progress('(i) builds the read models for the first time')
    await rebuilder(folder, 'build')
    progress('(i) rebuilds the read models')
    await addStrangers(folder)
    const { idle, peak, seconds } = JSON.parse(await rebuilder(folder, 'measure')) as Measured
    return [
      {
        name: `(i) memory to make ${DOCUMENTS} documents anew`,
        reached: `${(peak - idle).toFixed(0)} MiB above ${idle.toFixed(0)}, in ${seconds.toFixed(0)} s`,
        target: `at most ${MOST_MEBIBYTES} MiB above`,
        met: peak - idle <= MOST_MEBIBYTES,
      },
    ]
  })
}

async function addStrangers(folder: string): Promise<void> {
  const readModels = sqliteReadModels({ path: join(folder, 'read-models.db') })
  const collection = readModels.collection(apis)
  const first = await collection.ids()[Symbol.asyncIterator]().next()
  const known = first.done ? undefined : await collection.get(first.value)
  if (!known) throw new Error('there are no documents')
  await readModels.write(
    Array.from({ length: STRANGERS }, (_, n) => {
      const id = `stranger-${n}`
      return { collection: apis, id, doc: { ...known.doc, id, name: id }, revision: 0 }
    }),
  )
  await readModels.close()
}
