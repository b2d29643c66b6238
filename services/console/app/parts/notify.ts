import { notifications } from '@mantine/notifications'
import { adviceOn, asProblem } from '../http/problem.ts'

const closeButtonProps = { 'aria-label': 'Dismiss' }

/** Says for some seconds that something is done, e.g. "The API is saved". */
export const notifyDone = (message: string) =>
  notifications.show({ message, color: 'teal', closeButtonProps })

/**
 * Shows a failed request of an action without a place of its own on the page, until it is dismissed.
 * @param what what failed, e.g. "The rows are not selected"
 */
export function notifyFailed(what: string, error: unknown) {
  const problem = asProblem(error)
  const message = [
    problem.detail,
    adviceOn(problem),
    problem.requestId && `Request id ${problem.requestId}`,
  ].filter(Boolean)
  notifications.show({
    title: `${what}: ${problem.title}`,
    message: message.join(' '),
    color: 'red',
    autoClose: false,
    closeButtonProps,
  })
}
