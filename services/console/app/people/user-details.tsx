import { DataList, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Schemas } from '../http/schemas.ts'
import { useAllowed } from '../http/session.ts'
import { AnchorLink } from '../parts/links.tsx'
import { Time } from '../parts/time.tsx'
import { ROLE_NAMES, ROLE_TEXTS } from './roles.ts'
import { LABELS } from './user-draft.ts'

/** What is known of a user. */
export function UserDetails({ user }: { user: Schemas['User'] }) {
  const mayAudit = useAllowed('AUDIT_LOG_READ')
  const fields: readonly (readonly [string, ReactNode])[] = [
    [LABELS.username, user.username],
    [LABELS.email, user.email ?? '–'],
    [LABELS.role, `${ROLE_NAMES[user.role]}: ${ROLE_TEXTS[user.role]}`],
    [LABELS.status, user.status === 'ACTIVE' ? 'Active' : 'Inactive'],
    [LABELS.sso, user.sso ? 'Yes' : 'No'],
    ['Created', <Time key="created" at={user.createdAt} />],
    ['Changed', <Time key="changed" at={user.updatedAt} />],
  ]
  return (
    <>
      <DataList orientation="horizontal">
        {fields.map(([label, value]) => (
          <DataList.Item key={label}>
            <DataList.ItemLabel>{label}</DataList.ItemLabel>
            <DataList.ItemValue>
              <Text size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
                {value}
              </Text>
            </DataList.ItemValue>
          </DataList.Item>
        ))}
      </DataList>
      {mayAudit && (
        <AnchorLink to="/audit" search={{ user: user.username }} size="sm">
          What this user did, in the audit log
        </AnchorLink>
      )}
    </>
  )
}
