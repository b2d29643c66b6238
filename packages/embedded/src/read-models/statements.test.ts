import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { Statements } from './statements.ts'

test('a row is an object also after the same SQL returned slots', () => {
  const db = new DatabaseSync(':memory:')
  const statements = new Statements(db)
  const sql = 'SELECT 7 AS slot'
  expect(statements.slots(sql)).toEqual([7])
  expect(statements.get(sql)).toEqual({ slot: 7 })
  expect(statements.slots(sql)).toEqual([7])
  db.close()
})
