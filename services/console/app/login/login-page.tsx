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
import { type FormEvent, useState } from 'react'
import { INTERFACE_PATH } from '../http/place.ts'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { signInWithPassword, signInWithToken } from './sign-in.ts'

const route = getRouteApi('/login')

/** Signs in by password or with an access token, then opens the page that was asked for. */
export function LoginPage() {
  const { next } = route.useSearch()
  const router = useRouter()
  const [way, setWay] = useState('password')
  const signIn = useMutation({
    mutationFn: (form: FormData) => {
      const field = (name: string) => String(form.get(name) ?? '')
      return way === 'password'
        ? signInWithPassword(field('username'), field('password'))
        : signInWithToken(field('token').trim())
    },
    onSuccess: () => router.history.replace(router.basepath.replace(/\/$/, '') + (next ?? '/apis')),
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    signIn.mutate(new FormData(event.currentTarget))
  }
  return (
    <Container component="main" size={420} py={64}>
      <Title order={1} ta="center">
        Gantry
      </Title>
      <Paper withBorder p="lg" mt="lg" component="form" onSubmit={submit}>
        <Stack>
          <SegmentedControl
            aria-label="How to sign in"
            value={way}
            onChange={setWay}
            data={[
              { value: 'password', label: 'Password' },
              { value: 'token', label: 'Access token' },
            ]}
          />
          {way === 'password' ? <PasswordFields /> : <TokenField />}
          {signIn.isError && <ProblemPanel what="You are not signed in" error={signIn.error} />}
          <Button type="submit" loading={signIn.isPending}>
            Sign in
          </Button>
        </Stack>
      </Paper>
      <Text ta="center" size="sm" mt="md">
        <Anchor href={`${INTERFACE_PATH}/docs`}>Documentation of the REST interface</Anchor>
      </Text>
    </Container>
  )
}

function PasswordFields() {
  return (
    <>
      <TextInput
        name="username"
        label="User name"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        required
        data-autofocus
      />
      <PasswordInput name="password" label="Password" autoComplete="current-password" required />
    </>
  )
}

function TokenField() {
  return (
    <PasswordInput
      name="token"
      label="Access token"
      description="It is kept in this tab only and forgotten when the tab is closed."
      autoComplete="off"
      required
    />
  )
}
