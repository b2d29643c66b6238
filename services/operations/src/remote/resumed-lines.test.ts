import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { TemporaryFailure } from '../retries.ts'
import { remoteOf } from './remote.ts'
import { resumedLines } from './resumed-lines.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** A response whose chunks are sent by the test. */
function response() {
  let stream: ReadableStreamDefaultController<Uint8Array>
  const body = new ReadableStream<Uint8Array>({
    start: controller => {
      stream = controller
    },
  })
  return {
    answer: (signal: AbortSignal) => {
      signal.addEventListener('abort', () => stream.error(signal.reason))
      return new Response(body)
    },
    send: (text: string) => stream.enqueue(Buffer.from(text)),
    break: () => stream.error(new Error('reset')),
    end: () => stream.close(),
  }
}
type Opening = (after: string | undefined, signal: AbortSignal) => Promise<Response>

/** The lines that the responses have given, each with its position as text. */
function reading(open: Opening, follow: boolean) {
  const interrupted = new AbortController()
  const notices: string[] = []
  vi.spyOn(process.stderr, 'write').mockImplementation(line => notices.push(String(line)) > 0)
  onTestFinished(() => void vi.restoreAllMocks())
  const { signal } = interrupted
  const options = { positionOf: (line: string) => line, after: undefined, follow, signal }
  return { lines: resumedLines({ open, ...options }), notices, stop: () => interrupted.abort() }
}

const pass = async (ms: number) => {
  for (let passed = 0; passed < ms; passed += 1_000) {
    await vi.advanceTimersByTimeAsync(1_000)
    await setImmediate()
  }
}

test('a consumer that takes longer than a silent connection may last gets the next lines', async () => {
  const { answer, ...first } = response()
  const openings: (string | undefined)[] = []
  const { lines, notices } = reading(async (after, signal) => {
    openings.push(after)
    return answer(signal)
  }, true)
  first.send('a\n')
  expect((await lines.next()).value).toEqual(['a'])
  await pass(100_000)
  first.send('b\n')
  expect((await lines.next()).value).toEqual(['b'])
  expect([openings, notices]).toEqual([[undefined], []])
})

test('a stream that follows goes on after minutes without the service, although it has had no line', async () => {
  const [first, second] = [response(), response()]
  let isAway = false
  const answers = [first, second]
  const { lines, notices, stop } = reading(async (_after, signal) => {
    if (isAway) throw new TemporaryFailure('cannot reach it')
    return answers.shift()?.answer(signal) ?? Response.error()
  }, true)
  const next = lines.next()
  first.send('\n')
  await pass(15_000)
  isAway = true
  first.break()
  await pass(180_000)
  isAway = false
  second.send('a\n')
  await pass(40_000)
  expect((await next).value).toEqual(['a'])
  expect(notices.length).toBeGreaterThan(3)
  stop()
})

test('a stream that does not follow gives up after two minutes in which no response has had a line', async () => {
  const { lines } = reading(async (_after, signal) => {
    const { answer, send, break: fail } = response()
    send('\n')
    setTimeout(fail, 1_000)
    return answer(signal)
  }, false)
  const failed = lines.next().then(
    () => undefined,
    error => error,
  )
  await pass(100_000)
  expect(await Promise.race([failed, 'still trying'])).toBe('still trying')
  await pass(60_000)
  expect(await failed).toBeInstanceOf(TemporaryFailure)
})

test('an endless text of a refusal is not read to its end', async () => {
  const server = createServer((_, response) => {
    response.writeHead(400)
    const endless = () => {
      while (response.write('x'.repeat(1_000)));
    }
    response.on('drain', endless)
    endless()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const BASE_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const remote = remoteOf({ BASE_URL, GANTRY_TOKEN: 'token' })
  const options = { accept: 'application/json', signal: AbortSignal.timeout(5_000) }
  await expect(remote.get('/', {}, options)).rejects.toThrow(/^400 Bad Request$/)
  expect(options.signal.aborted).toBe(false)
})
