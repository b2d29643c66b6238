import { useNotifications } from '@mantine/notifications'
import { lazy, Suspense, useState } from 'react'

const Messages = lazy(async () => ({ default: (await import('./messages.tsx')).Messages }))

/** Where notifications appear. What shows them is read with the first one, so that the first page is small. */
export function MessagesArea() {
  const { notifications } = useNotifications()
  const [used, setUsed] = useState(false)
  if (notifications.length > 0 && !used) setUsed(true)
  return used ? (
    <Suspense>
      <Messages />
    </Suspense>
  ) : null
}
