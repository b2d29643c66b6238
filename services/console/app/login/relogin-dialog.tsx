import { Button, Group, getDefaultZIndex, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, type KeyboardEvent, useEffect, useState } from 'react'
import { type Session, useRefusedToken, useSession } from '../http/session.ts'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { SlowNotice } from '../parts/slow.tsx'
import { continueSession, isByPassword, signOut } from './sign-in.ts'

const ASKED_BEFORE_MS = 5 * 60_000
/** Interval at which the clock is read: a single timer is late after the machine has slept. */
const LOOK_MS = 15_000

/** Keeps Escape in this dialog from closing a dialog below it, whose input would be lost. */
const KEEPS_ESCAPE = { 'data-mantine-stop-propagation': 'true' }

/**
 * Asks for the password five minutes before the session ends, and when the service has refused its token. The page below
 * keeps its input. Requests that wait for a new token are sent again afterwards.
 */
export function ReloginDialog() {
  const current = useSession()
  const refused = useRefusedToken()
  const left = useTimeLeft(current)
  const [postponed, setPostponed] = useState<string>()
  if (!current) return null
  const ended = refused !== undefined || left === 'none'
  const open = ended || (left === 'minutes' && postponed !== current.token)
  const postpone = () => setPostponed(current.token)
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && !ended) postpone()
  }
  return (
    <Modal
      opened={open}
      onClose={postpone}
      withCloseButton={!ended}
      closeOnEscape={false}
      closeOnClickOutside={false}
      zIndex={getDefaultZIndex('max')}
      title={ended ? 'Your session has ended' : 'Your session ends in less than five minutes'}
      closeButtonProps={{ 'aria-label': 'Not now', ...KEEPS_ESCAPE }}
      attributes={{ content: KEEPS_ESCAPE }}
      onKeyDown={onKeyDown}
    >
      <ReloginForm current={current} />
    </Modal>
  )
}

function ReloginForm({ current }: { current: Session }) {
  const byPassword = isByPassword(current)
  const signIn = useMutation({ mutationFn: (secret: string) => continueSession(current, secret) })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    signIn.mutate(String(new FormData(event.currentTarget).get('secret')))
  }
  return (
    <form onSubmit={submit} aria-label="Sign in again">
      <Stack>
        <Text size="sm">Sign in again to continue here. What you have typed on this page is kept.</Text>
        <input hidden readOnly name="username" autoComplete="username" value={current.user.username} />
        <TextInput
          {...KEEPS_ESCAPE}
          type="password"
          name="secret"
          required
          data-autofocus
          label={
            byPassword ? `Password of ${current.user.username}` : `Access token of ${current.user.username}`
          }
          autoComplete={byPassword ? 'current-password' : 'off'}
        />
        {signIn.isError && <ProblemPanel what="You are not signed in" error={signIn.error} />}
        <SlowNotice waiting={signIn.isPending} />
        <Group justify="space-between">
          <Button variant="default" onClick={signOut} {...KEEPS_ESCAPE}>
            Sign out
          </Button>
          <Button type="submit" loading={signIn.isPending} {...KEEPS_ESCAPE}>
            Continue
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** How long the session lasts: five minutes or less, or not at all any more. */
function useTimeLeft(current: Session | undefined): 'enough' | 'minutes' | 'none' {
  const [now, setNow] = useState(Date.now)
  const endsAt = current?.expiresAt ?? Number.POSITIVE_INFINITY
  useEffect(() => {
    const look = () => setNow(Date.now())
    const timer = setInterval(look, LOOK_MS)
    document.addEventListener('visibilitychange', look)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', look)
    }
  }, [])
  if (now >= endsAt) return 'none'
  return now >= endsAt - ASKED_BEFORE_MS ? 'minutes' : 'enough'
}
