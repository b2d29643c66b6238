import '../more-styles.ts'
import {
  Anchor,
  Button,
  Container,
  Paper,
  PasswordInput,
  SegmentedControl,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { type FormEvent, type RefObject, useEffect, useRef, useState } from 'react'
import { INTERFACE_PATH } from '../http/place.ts'
import { useSession } from '../http/session.ts'
import { Brand } from '../parts/brand.tsx'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { SlowNotice } from '../parts/slow.tsx'
import { signInWithPassword, signInWithToken } from './sign-in.ts'

const route = getRouteApi('/login')
type Way = 'password' | 'token'

/** Signs in by password or with an access token, then opens the page that was asked for. */
export function LoginPage() {
  const { next } = route.useSearch()
  const router = useRouter()
  // The person may sign in in another tab, too.
  const signedIn = useSession() !== undefined
  useEffect(() => {
    if (signedIn) router.history.replace(router.basepath.replace(/\/$/, '') + (next ?? '/'))
  }, [signedIn, router, next])
  const [way, setWay] = useState<Way>('password')
  const first = useRef<HTMLInputElement>(null)
  useEffect(() => first.current?.focus(), [])
  const signIn = useMutation({
    mutationFn: (form: FormData) => {
      const field = (name: string) => String(form.get(name) ?? '')
      return way === 'password'
        ? signInWithPassword(field('username'), field('password'))
        : signInWithToken(field('token'))
    },
  })
  const choose = (value: Way) => {
    setWay(value)
    signIn.reset()
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    signIn.mutate(new FormData(event.currentTarget))
  }
  return (
    <Container component="main" size={420} py={{ base: 'md', xs: 64 }}>
      <Brand large />
      <Paper withBorder p="lg" mt="lg" component="form" aria-labelledby="sign-in" onSubmit={submit}>
        <Stack>
          <Title order={1} size="h3" id="sign-in">
            Sign in
          </Title>
          <SegmentedControl
            aria-label="How to sign in"
            value={way}
            onChange={choose}
            data={[
              { value: 'password', label: 'Password' },
              { value: 'token', label: 'Access token' },
            ]}
          />
          {way === 'password' ? <PasswordFields first={first} /> : <TokenField />}
          {signIn.isError && <ProblemPanel what="You are not signed in" error={signIn.error} />}
          <div>
            <Button type="submit" fullWidth loading={signIn.isPending}>
              Sign in
            </Button>
            <SlowNotice waiting={signIn.isPending} />
          </div>
        </Stack>
      </Paper>
      <Text ta="center" size="sm" mt="md">
        Forgotten your password? An administrator of Gantry can set a new one for you, under Users.
      </Text>
      <Text ta="center" size="sm" mt="md">
        <Anchor href={`${INTERFACE_PATH}/docs`}>REST API documentation</Anchor>
      </Text>
    </Container>
  )
}

function PasswordFields({ first }: { first: RefObject<HTMLInputElement | null> }) {
  return (
    <>
      <TextInput
        ref={first}
        name="username"
        label="User name"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        required
      />
      <PasswordInput
        name="password"
        label="Password"
        autoComplete="current-password"
        required
        visibilityToggleButtonProps={{ 'aria-label': 'Show what is typed', tabIndex: 0 }}
      />
    </>
  )
}

function TokenField() {
  return (
    <PasswordInput
      name="token"
      label="Access token"
      description="It is kept in the tabs of the console only, and forgotten when the last one is closed."
      autoComplete="off"
      required
      visibilityToggleButtonProps={{ 'aria-label': 'Show what is typed', tabIndex: 0 }}
    />
  )
}
