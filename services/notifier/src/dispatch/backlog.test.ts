import { expect, test } from 'vitest'
import { Backlog } from './backlog.ts'

test('deliveries wait for this process while the receiver is quick, and not while it is slow', () => {
  let time = 0
  const backlog = new Backlog(() => time)
  backlog.waits('a', '1')
  expect(backlog.size).toBe(0)
  backlog.begins('a', '2')
  backlog.waits('a', '3')
  expect(backlog.size).toBe(2)
  time = 499
  expect(backlog.size).toBe(2)
  time = 500
  expect(backlog.size).toBe(0)
  backlog.ends('a', '2')
  backlog.begins('a', '1')
  expect(backlog.size).toBe(1)
})

test('a delivery that was cancelled while it waited is forgotten', () => {
  let time = 0
  const backlog = new Backlog(() => time)
  backlog.waits('a', 'cancelled')
  time = 10_000
  backlog.waits('a', '1')
  backlog.begins('a', '2')
  expect(backlog.size).toBe(1)
})
