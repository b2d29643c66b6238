import { useMediaQuery } from '@mantine/hooks'
import { Notifications } from '@mantine/notifications'
import classes from './messages.module.css'

const SHOWN_MS = 5_000

/** Below the overlay of a dialog. */
const Z_INDEX = 190

/**
 * The notifications that are shown: below the header, between a page's title and its buttons; on a phone, where these have
 * the whole width, at the lower edge.
 */
export function Messages() {
  const isPhone = useMediaQuery('(max-width: 47.99em)', undefined, { getInitialValueInEffect: false })
  return (
    <Notifications
      position={isPhone ? 'bottom-center' : 'top-center'}
      className={classes.messages ?? ''}
      autoClose={SHOWN_MS}
      limit={3}
      containerWidth={420}
      zIndex={Z_INDEX}
    />
  )
}
