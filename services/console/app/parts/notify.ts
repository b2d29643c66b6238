import { notifications } from '@mantine/notifications'

/** Says for some seconds that something is done, e.g. "The API is saved". */
export const notifyDone = (message: string) =>
  notifications.show({ message, color: 'teal', closeButtonProps: { 'aria-label': 'Dismiss' } })
