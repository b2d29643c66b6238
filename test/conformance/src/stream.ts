export interface Message {
  /** The event id of a server-sent event. */
  id?: string
  /** The JSON of the line, or of the data of the server-sent event. */
  item: unknown
}

const linesOf = async function* (body: ReadableStream<Uint8Array>) {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let rest = ''
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

const lineMessages = async function* (lines: AsyncIterable<string>): AsyncGenerator<Message> {
  for await (const line of lines) if (line.trim() !== '') yield { item: JSON.parse(line) }
}

/** WHATWG HTML, "Interpreting an event stream"; supports one-line fields only. */
const eventMessages = async function* (lines: AsyncIterable<string>): AsyncGenerator<Message> {
  let id: string | undefined
  let data: string[] = []
  for await (const raw of lines) {
    const line = raw.replace(/\r$/, '')
    const [, field, value = ''] = /^([^:]+):? ?(.*)$/.exec(line) ?? []
    if (line === '') {
      if (data.length > 0) yield { ...(id !== undefined && { id }), item: JSON.parse(data.join('\n')) }
      data = []
    } else if (field === 'id') id = value
    else if (field === 'data') data.push(value)
  }
}

/** The messages of a streaming response, each checked when it arrives. */
export const messagesOf = async function* (
  body: ReadableStream<Uint8Array>,
  contentType: string,
  check: (item: unknown) => void,
): AsyncGenerator<Message> {
  const read = contentType.startsWith('text/event-stream') ? eventMessages : lineMessages
  for await (const message of read(linesOf(body))) {
    check(message.item)
    yield message
  }
}
