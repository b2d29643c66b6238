import { expect, test } from 'vitest'
import { placeText } from './place-text.ts'

test.for<[string, string]>([
  ['/paths/~1pets~1{id}/get/responses/200', 'GET /pets/{id} › responses › 200'],
  ['#/paths/~1pets/parameters', 'paths › /pets › parameters'],
  ['/info/x~0y', 'info › x~y'],
])('the place %s is shown as %s', ([pointer, shown]) => {
  expect(placeText(pointer)).toBe(shown)
})
