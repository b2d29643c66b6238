import type { Json } from '@gantry/messaging'
import { currentContext, handlingMessage, inContext, TraceContext } from '@gantry/tracing'
import { expect, test } from 'vitest'
import { processLog } from './process-log.ts'

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const SPAN_ID = 'b7ad6b7169203331'
const GIVEN = `00-${TRACE_ID}-${SPAN_ID}-01`

/** A log with its lines. */
function openLog() {
  const lines: Record<string, unknown>[] = []
  const log = processLog({ level: 'info', base: {} }, { write: line => lines.push(JSON.parse(line)) })
  return { log, lines: () => lines.map(({ level: _, time: __, err: ___, ...fields }) => fields) }
}

test('a valid traceparent continues its trace', () => {
  const { traceId, spanId, headers } = new TraceContext('r-1', GIVEN)
  expect({ traceId, spanId }).toEqual({ traceId: TRACE_ID, spanId: SPAN_ID })
  expect(headers).toEqual({ 'x-request-id': 'r-1', traceparent: GIVEN })
})

test.each([
  undefined,
  '',
  'x',
  ['00', GIVEN],
  GIVEN.toUpperCase(),
  `01${GIVEN.slice(2)}`,
  `${GIVEN}, ${GIVEN}`,
  `00-${'0'.repeat(32)}-${SPAN_ID}-01`,
  `00-${TRACE_ID}-${'0'.repeat(16)}-01`,
])('with the traceparent %j a new trace starts, which is not sampled', given => {
  const [one, other] = [new TraceContext('r-1', given), new TraceContext('r-2', given)]
  expect(one.traceparent).toMatch(/^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-00$/)
  expect(one.traceparent).toBe(one.traceparent)
  expect(one.traceId).not.toBe(other.traceId)
  expect(one.spanId).not.toBe(other.spanId)
})

test.each(['ev-€1', 'a\nb', '', 'x'.repeat(129)])(
  'the request id %j of a message is replaced by one that headers and log lines can have',
  async requestId => {
    const idIn = (message: { id: string; data: Json }) =>
      handlingMessage(
        'nats',
        { subject: 's', ...message },
        async () => currentContext()?.headers['x-request-id'],
      )
    expect(await idIn({ id: 'm', data: { requestId } })).toMatch(/^[0-9a-f-]{36}$/)
    expect(await idIn({ id: requestId, data: null })).toMatch(/^[0-9a-f-]{36}$/)
    expect(await idIn({ id: requestId, data: { requestId: 'r-1' } })).toBe('r-1')
    expect(new TraceContext(requestId, undefined).requestId).toMatch(/^[0-9a-f-]{36}$/)
  },
)

test('the line of an error has the ids of the innermost context that it was thrown in', async () => {
  const { log, lines } = openLog()
  const failing = inContext(new TraceContext('r-0', undefined), () =>
    inContext(new TraceContext('r-1', GIVEN), async () => {
      expect(currentContext()?.requestId).toBe('r-1')
      throw new Error('broken')
    }),
  )
  await failing.catch(err => log.error({ err }, 'failed'))
  expect(currentContext()).toBeUndefined()
  expect(lines()).toEqual([{ requestId: 'r-1', traceId: TRACE_ID, spanId: SPAN_ID, msg: 'failed' }])
})
