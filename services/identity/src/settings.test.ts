import { readSettings } from '@gantry/service-runtime'
import { expect, test } from 'vitest'
import { identitySettings } from './settings.ts'

test('backups of the keys of users are kept for a time that ends at a date', () => {
  const read = (USER_KEY_BACKUP_RETENTION: string) =>
    readSettings(identitySettings, { USER_KEY_BACKUP_RETENTION })
  expect(read('36500d')).toMatchObject({ USER_KEY_BACKUP_RETENTION: 36_500 * 86_400_000 })
  expect(() => read('999999999d')).toThrow(/USER_KEY_BACKUP_RETENTION: must be at most 36500d/)
})
