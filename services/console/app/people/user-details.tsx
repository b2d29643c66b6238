import { DataList, Text } from '@mantine/core'
import type { Schemas } from '../http/schemas.ts'
import { ROLE_NAMES, ROLE_TEXTS } from './roles.ts'
import { LABELS } from './user-draft.ts'

/** The fields of a user for a person who may only read them. */
export function UserDetails({ user }: { user: Schemas['User'] }) {
  const fields: readonly (readonly [string, string])[] = [
    [LABELS.username, user.username],
    [LABELS.email, user.email ?? '—'],
    [LABELS.role, `${ROLE_NAMES[user.role]}: ${ROLE_TEXTS[user.role]}`],
    [LABELS.status, user.status === 'ACTIVE' ? 'Active' : 'Inactive'],
    [LABELS.sso, user.sso ? 'Yes' : 'No'],
  ]
  return (
    <DataList>
      {fields.map(([label, value]) => (
        <DataList.Item key={label}>
          <DataList.ItemLabel>{label}</DataList.ItemLabel>
          <DataList.ItemValue>
            <Text size="sm">{value}</Text>
          </DataList.ItemValue>
        </DataList.Item>
      ))}
    </DataList>
  )
}
