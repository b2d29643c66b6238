import type { Schemas } from '../../http/schemas.ts'

/** An error code of an attempt in plain words. */
interface Fault {
  said: string
  advice?: string
}

const CHECK_URL = 'Check that the receiver runs and that the URL of the webhook is right.'
const REPEATED = 'The attempt is repeated.'
const NOT_REPEATED = 'A test is not repeated: send another one.'

const FAULTS: Readonly<Record<string, Fault>> = {
  'address-refused': {
    said: 'The host does not exist, or its address is not public.',
    advice: 'Correct the URL of the webhook, or ask the operator to allow the address.',
  },
  'connect-failed': { said: 'No connection to the receiver could be opened.', advice: CHECK_URL },
  'tls-failed': {
    said: 'No secure connection to the receiver could be opened.',
    advice: 'Check that its certificate is valid for the host and has not expired.',
  },
  timeout: {
    said: 'The receiver did not answer in time.',
    advice: 'Let the receiver answer first and process the event afterwards.',
  },
  'closed-early': {
    said: 'The receiver closed the connection before its answer was complete.',
    advice: CHECK_URL,
  },
  'bad-answer': { said: 'The answer of the receiver is not valid HTTP.', advice: CHECK_URL },
  redirect: {
    said: 'The receiver redirected the request. Redirects are not followed.',
    advice: 'Set the URL of the webhook to the address that the receiver names.',
  },
  'resolver-failed': { said: 'The name service that Gantry uses did not answer.' },
  'network-failed': { said: 'The machine of Gantry has no connection to the network.' },
  'signing-failed': {
    said: 'The signing secret cannot be decrypted, because the encryption key has changed.',
    advice: 'Rotate the secret of the webhook.',
  },
  'internal-error': { said: 'Gantry has a defect.', advice: 'Give the trace id to the operator.' },
  interrupted: { said: 'Gantry was stopped during the attempt.', advice: REPEATED },
  lost: {
    said: 'Gantry was ended during the attempt. Whether the request arrived is unknown.',
    advice: REPEATED,
  },
}

/** What went wrong in an attempt and what to do about it; undefined after a success and while it runs. */
export function faultOf(attempt: Schemas['Attempt']): (Fault & { whose?: string }) | undefined {
  const { error, fault, responseStatus, trigger } = attempt
  if (error === null) return undefined
  const whose =
    fault === 'SERVICE'
      ? 'This is a fault of Gantry. It does not count against the webhook.'
      : fault === 'RECEIVER'
        ? 'This is a fault of the receiver.'
        : undefined
  const known = error === 'http-status' ? answered(responseStatus) : FAULTS[error]
  const repeated = known?.advice === REPEATED && trigger === 'TEST' && { advice: NOT_REPEATED }
  return { ...(known ?? { said: `The attempt failed: ${error}.` }), ...repeated, ...(whose && { whose }) }
}

/** What went wrong in the latest finished attempt of a delivery; undefined after a success and before the first one. */
export function lastFault({ attemptLog }: Pick<Schemas['Delivery'], 'attemptLog'>) {
  const last = attemptLog.findLast(({ durationMs, error }) => durationMs !== null || error !== null)
  return last && faultOf(last)
}

function answered(status: number | null): Fault {
  const said = `The receiver answered with status ${status}.`
  if (status === 410)
    return { said, advice: 'It means that the receiver is gone, so no further attempt is made.' }
  if (status === 401 || status === 403)
    return {
      said,
      advice: 'Check that the receiver verifies signatures with the current secret of the webhook.',
    }
  if (status === 404 || status === 405) return { said, advice: 'Check the path in the URL of the webhook.' }
  if (status === 429) return { said, advice: 'The receiver gets more requests than it accepts.' }
  return { said, advice: 'Look at the response and at the log of the receiver.' }
}
