import { Notifications } from '@mantine/notifications'

const SHOWN_MS = 5_000

/** Below the overlay of a dialog. */
const Z_INDEX = 190

/** The notifications that are shown: over the header, which has nothing that a form needs. */
export const Messages = () => (
  <Notifications position="top-center" autoClose={SHOWN_MS} limit={3} containerWidth={420} zIndex={Z_INDEX} />
)
