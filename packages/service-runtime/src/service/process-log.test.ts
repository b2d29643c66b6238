import { expect, test } from 'vitest'
import { asText, processLog } from './process-log.ts'

test('the log on a terminal has a line of text for each record, with its fields and its error', () => {
  const lines: string[] = []
  const log = processLog(
    { level: 'info', base: { service: 'standalone', pid: 1 } },
    asText({ write: line => lines.push(line) }),
  )
  log.warn({ path: '/data', left: 3 }, 'the disk is nearly full')
  log.error({ err: new Error('no space') }, 'a worker failed')
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d warn {2}the disk is nearly full {2}path=\/data {2}left=3\n$/)
  expect(lines[1]).toMatch(/^\d\d:\d\d:\d\d error a worker failed\nError: no space\n {4}at /)
})
