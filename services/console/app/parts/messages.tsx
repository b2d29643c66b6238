import { Notifications } from '@mantine/notifications'

/** The notifications that are shown. */
export const Messages = () => <Notifications position="bottom-right" />
