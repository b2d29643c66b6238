import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { sealedChange, type UserChange } from './sealed-change.ts'
import type { UserCiphers } from './user-ciphers.ts'

/** Shows what is encrypted. */
const ciphers = { seal: async (_, text) => text } as Pick<UserCiphers, 'seal'> as UserCiphers

test('what is encrypted and committed to is canonical JSON', async () => {
  const ada = { role: 'USER', username: 'ada', displayName: 'Ada "Byron" Ä\u2028', email: undefined }
  const king = { ...ada, email: 'ada@example.com' }
  const change = { action: 'USER_UPDATED', resourceType: 'USER', resourceId: 'u', before: ada, after: king }
  const { personal, before } = await sealedChange(change as unknown as UserChange, ciphers)
  const { sealed = '', commitment } = personal ?? {}
  const { salt } = JSON.parse(sealed)
  expect(sealed).toBe(
    `{"after":{"displayName":"Ada \\"Byron\\" Ä\u2028","email":"ada@example.com","username":"ada"},"before":{"displayName":"Ada \\"Byron\\" Ä\u2028","email":null,"username":"ada"},"salt":"${salt}"}`,
  )
  expect(commitment).toBe(createHash('sha256').update(sealed).digest('hex'))
  expect(before).toEqual({ role: 'USER' })
})
