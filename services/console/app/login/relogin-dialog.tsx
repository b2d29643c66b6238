import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import { type Session, useRefusedToken, useSession } from '../http/session.ts'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { signInWithPassword, signInWithToken, signOut } from './sign-in.ts'

const ASKED_BEFORE_MS = 5 * 60_000
/** Longest delay of a browser's timer. */
const LONGEST_MS = 2 ** 31 - 1

/**
 * Asks for the password five minutes before the session ends, and when the service has refused its token. The page below
 * keeps its input. Requests that wait for a new token are sent again afterwards.
 */
export function ReloginDialog() {
  const current = useSession()
  const refused = useRefusedToken()
  const ending = useEnding(current)
  const [postponed, setPostponed] = useState<string>()
  if (!current) return null
  const open = refused !== undefined || (ending && postponed !== current.token)
  return (
    <Modal
      opened={open}
      onClose={() => setPostponed(current.token)}
      withCloseButton={refused === undefined}
      closeOnEscape={refused === undefined}
      closeOnClickOutside={false}
      title={refused === undefined ? 'Your session ends in less than five minutes' : 'Your session has ended'}
      closeButtonProps={{ 'aria-label': 'Not now' }}
    >
      <ReloginForm current={current} />
    </Modal>
  )
}

function ReloginForm({ current }: { current: Session }) {
  const byPassword = current.kind === 'login'
  const signIn = useMutation({
    mutationFn: (secret: string) =>
      byPassword ? signInWithPassword(current.user.username, secret) : signInWithToken(secret.trim()),
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    signIn.mutate(String(new FormData(event.currentTarget).get('secret')))
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm">Sign in again to continue here. What you have typed on this page is kept.</Text>
        <input hidden readOnly name="username" autoComplete="username" value={current.user.username} />
        <TextInput
          type="password"
          name="secret"
          required
          data-autofocus
          label={byPassword ? `Password of ${current.user.username}` : 'Access token'}
          autoComplete={byPassword ? 'current-password' : 'off'}
        />
        {signIn.isError && <ProblemPanel what="You are not signed in" error={signIn.error} />}
        <Group justify="space-between">
          <Button variant="default" onClick={signOut}>
            Sign out
          </Button>
          <Button type="submit" loading={signIn.isPending}>
            Continue
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** Whether the session ends within five minutes. */
function useEnding(current: Session | undefined): boolean {
  const [now, setNow] = useState(Date.now)
  const endsAt = current?.expiresAt ?? null
  const asksAt = endsAt === null ? Number.POSITIVE_INFINITY : endsAt - ASKED_BEFORE_MS
  useEffect(() => {
    const wait = asksAt - Date.now()
    if (wait === Number.POSITIVE_INFINITY) return
    const timer = setTimeout(() => setNow(Date.now()), Math.min(Math.max(wait, 0), LONGEST_MS))
    return () => clearTimeout(timer)
  }, [asksAt])
  return now >= asksAt
}
