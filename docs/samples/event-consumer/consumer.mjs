// Appends every public event to a file, one JSON document per line, and continues there after any interruption.
// BASE_URL=http://localhost:8080 GANTRY_TOKEN=pat_… node consumer.mjs events.ndjson
import { appendFile, readFile, truncate } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'

const { BASE_URL = 'http://localhost:8080', GANTRY_TOKEN } = process.env
const [file] = process.argv.slice(2)
const PAUSE_MS = 1_000
/** The service sends something every 15 seconds. */
const SILENCE_MS = 60_000

/** The position of the last complete line. A write that was interrupted leaves an incomplete one, which is removed. */
async function lastPosition() {
  const bytes = await readFile(file).catch(() => Buffer.alloc(0))
  const end = bytes.lastIndexOf('\n') + 1
  if (end < bytes.length) await truncate(file, end)
  const last = bytes.subarray(0, end).toString().trimEnd().split('\n').at(-1)
  return last ? JSON.parse(last).position : undefined
}

async function follow() {
  const after = await lastPosition()
  const query = new URLSearchParams({ follow: 'true', ...(after && { after }) })
  const silent = new AbortController()
  const deadline = globalThis.setTimeout(() => silent.abort(), SILENCE_MS)
  try {
    const response = await fetch(`${BASE_URL}/events?${query}`, {
      headers: { authorization: `Bearer ${GANTRY_TOKEN}`, accept: 'application/x-ndjson' },
      signal: silent.signal,
    })
    if (!response.ok) {
      const problem = await response.text()
      // A later attempt gets the same answer: an operator has to decide how to continue.
      if (response.status < 500 && response.status !== 429) {
        console.error(problem)
        process.exit(1)
      }
      throw new Error(problem)
    }
    let rest = ''
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
      deadline.refresh()
      const lines = (rest + text).split('\n')
      rest = lines.pop()
      // An empty line is a sign of life.
      const events = lines.filter(line => line !== '')
      if (events.length > 0) await appendFile(file, events.map(line => `${line}\n`).join(''))
    }
  } finally {
    clearTimeout(deadline)
  }
}

for (;;) {
  await follow().catch(error => console.error(error.message))
  await setTimeout(PAUSE_MS)
}
