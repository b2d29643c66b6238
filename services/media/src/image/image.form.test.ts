import { type AddressInfo, connect } from 'node:net'
import { answerProblem, BodyMemory, countBodies } from '@gantry/service-runtime'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { acceptForms, readForm } from './image.form.ts'

const MEBIBYTE = 1_048_576
const now = new Date('2026-11-21T10:00:00.000Z')

let app: FastifyInstance
let port: number
beforeEach(async () => {
  app = Fastify({ forceCloseConnections: true })
  app.setErrorHandler((error, request, reply) => answerProblem(error, request, reply, now))
  countBodies(app, new BodyMemory(32 * MEBIBYTE))
  await acceptForms(app)
  app.put('/', async request => {
    let bytes = 0
    await readForm(request, async chunk => {
      bytes += chunk.length
    })
    return { bytes }
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  port = (app.server.address() as AddressInfo).port
})
afterEach(async () => {
  await app.close()
})

const file = (size: number, name = 'file') => ({ name, blob: new Blob([new Uint8Array(size)]) })
const put = async (body: RequestInit['body'], headers: Record<string, string> = {}) => {
  const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'PUT', body, headers })
  const { bytes, code } = (await answer.json()) as { bytes?: number; code?: string }
  return bytes ?? `${answer.status} ${code}`
}
const form = (...parts: (ReturnType<typeof file> | [string, string])[]) => {
  const data = new FormData()
  for (const part of parts) {
    if (Array.isArray(part)) data.append(part[0], part[1])
    else data.append(part.name, part.blob, 'a.png')
  }
  return data
}
const typed = { 'content-type': 'multipart/form-data; boundary=edge' }
const chunked = `PUT / HTTP/1.1\r\nHost: a\r\nContent-Type: ${typed['content-type']}\r\nTransfer-Encoding: chunked\r\n\r\n`
const part = (content: string, header = 'Content-Disposition: form-data; name="file"; filename="a"') =>
  `--edge\r\n${header}\r\n\r\n${content}\r\n`

describe('a form', () => {
  test('passes its file to `write`', async () => {
    expect(await put(form(file(68)))).toBe(68)
    expect(await put(form(file(0)))).toBe(0)
  })
  test('may have fields with any content', async () => {
    const json = part('{"broken', 'Content-Disposition: form-data; name="note"')
    expect(await put(form(['title', 'a logo'], file(68), ['file', 'text']))).toBe(68)
    expect(await put(form(['title', 'x'.repeat(500_000)], file(68)))).toBe(68)
    expect(await put(`${json}${part('12345')}--edge--`, typed)).toBe(5)
  })
  test('needs a file part named file', async () => {
    expect(await put(form())).toBe('400 image-missing')
    expect(await put(form(file(68, 'picture')))).toBe('400 image-missing')
    expect(await put(form(['file', 'text, not a file']))).toBe('400 image-missing')
    expect(await put(`${part('12345', 'X-Nothing: here')}--edge--`, typed)).toBe('400 image-missing')
  })
})

describe('a file of 5 MiB', () => {
  test('is the limit for a form without a Content-Length', async () => {
    const socket = new Conversation(port)
    socket.send(chunked)
    socket.chunk(part('').slice(0, -2))
    for (let sent = 0; sent < 20; sent++) socket.chunk('x'.repeat(MEBIBYTE))
    expect(await socket.answer()).toContain('413 Payload Too Large')
    socket.close()
  })
})

test('a connection remains usable after a refusal that left most of the body unread', async () => {
  const socket = new Conversation(port)
  socket.send(chunked)
  socket.chunk(part('12345'))
  socket.chunk(part('x'.repeat(4 * MEBIBYTE)))
  expect(await socket.answer()).toContain('image-not-alone')
  socket.send('0\r\n\r\nPUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n')
  expect(await socket.answer()).toContain('unsupported-media-type')
  socket.close()
})

describe('a hostile form', () => {
  const { 'content-type': type } = typed
  const named = (header: string, content = '1') => part(content, `Content-Disposition: form-data; ${header}`)
  test.for<[string, string, string]>([
    ['no boundary', 'multipart/form-data', 'anything'],
    ['an empty boundary', 'multipart/form-data; boundary=', 'anything'],
    ['a boundary of 8,000 characters', `multipart/form-data; boundary=${'b'.repeat(8_000)}`, 'anything'],
    ['no parts', type, 'nothing like a form'],
    ['no end', type, part('12345')],
    ['an end within a part', type, part('123').slice(0, -2)],
    ['an end within a header', type, '--edge\r\nContent-Dispo'],
    ['a name of the prototype', type, `${named('name="__proto__"; filename="a"')}--edge--`],
    ['a header of 300,000 characters', type, `${part('1', `X: ${'x'.repeat(300_000)}`)}--edge--`],
    ['1,000 fields', type, `${named('name="a"').repeat(1_000)}--edge--`],
    ['1,000 files', type, `${part('1').repeat(1_000)}--edge--`],
    ['broken JSON', type, `${named('name="a"\r\nContent-Type: application/json', '{')}--edge--`],
  ])('with %s is refused', async ([, type, body]) => {
    expect(await put(body, { 'content-type': type })).toMatch(/^400 /)
  })

  test.for<[string, string]>([
    ['file', part('').slice(0, -2)],
    ['other file', part('', 'Content-Disposition: form-data; name="other"; filename="a"').slice(0, -2)],
    ['field', part('', 'Content-Disposition: form-data; name="a"').slice(0, -2)],
    ['header', '--edge\r\nX: '],
    ['preamble', ''],
    ['epilogue', '--edge--\r\n'],
  ])('with a never-ending %s is refused', async ([, start]) => {
    const socket = new Conversation(port)
    socket.send(chunked)
    socket.chunk(start)
    let answered = false
    const answer = socket.answer().finally(() => {
      answered = true
    })
    while (!answered && !socket.closed) await socket.chunk('x'.repeat(65_536))
    expect(await answer).toMatch(/^HTTP\/1.1 4\d\d /)
    socket.close()
  })

  test('that is cut off anywhere does not affect other requests', async () => {
    const whole = Buffer.from(
      `${part('12345')}${part('a', 'Content-Disposition: form-data; name="a"')}--edge--`,
    )
    // A step that no part of the form has as its length.
    for (let length = 0; length < whole.length; length += 7) {
      const left = new Conversation(port)
      left.send(
        `PUT / HTTP/1.1\r\nHost: a\r\nContent-Type: ${typed['content-type']}\r\nContent-Length: 1000\r\n\r\n`,
      )
      await left.send(whole.subarray(0, length).toString())
      left.close()
      const answer = await put(whole.subarray(0, length), typed)
      if (answer !== 5) expect(answer).toMatch(/^400 /)
    }
    expect(await put(form(file(68)))).toBe(68)
  })
})

/** A connection with explicit writes and reads. */
class Conversation {
  private readonly socket
  private heard = ''
  private wake = () => {}

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1')
    this.socket.on('error', () => {})
    this.socket.on('data', data => {
      this.heard += data.toString('latin1')
      this.wake()
    })
    this.socket.on('close', () => this.wake())
  }

  /** Resolves when the bytes are written, or when the connection is closed. */
  send(text: string): Promise<void> {
    return new Promise(resolve => this.socket.write(text, () => setImmediate(resolve)))
  }

  chunk(text: string): Promise<void> {
    return text ? this.send(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`) : Promise.resolve()
  }

  get closed(): boolean {
    return this.socket.closed
  }

  /** The next response, headers and body. */
  async answer(): Promise<string> {
    for (;;) {
      const [head, rest] = this.heard.split('\r\n\r\n', 2)
      const length = Number(/content-length: (\d+)/i.exec(head ?? '')?.[1])
      if (rest !== undefined && rest.length >= length) {
        this.heard = this.heard.slice((head?.length ?? 0) + 4 + length)
        return `${head}\r\n\r\n${rest.slice(0, length)}`
      }
      if (this.socket.closed) throw new Error('the connection was closed without a response')
      await new Promise<void>(resolve => {
        this.wake = resolve
      })
    }
  }

  close(): void {
    this.socket.destroy()
  }
}
