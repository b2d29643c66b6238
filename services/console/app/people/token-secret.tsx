import { Alert, Group, Stack, Text } from '@mantine/core'
import type { Schemas } from '../http/schemas.ts'
import { CopyField } from '../parts/copy.tsx'
import { ButtonLink } from '../parts/links.tsx'

/** The secret of a new access token, which only the answer to its creation has. */
export function TokenSecret({ token }: { token: Schemas['NewAccessToken'] }) {
  return (
    <Stack>
      {token.token === null ? <Withheld /> : <Secret secret={token.token} />}
      <Group>
        <ButtonLink to="/tokens" variant="default">
          Done
        </ButtonLink>
      </Group>
    </Stack>
  )
}

function Withheld() {
  return (
    <Alert color="yellow" role="alert" title="The secret is withheld">
      The token was created by an earlier try with another login. Revoke it and create another one.
    </Alert>
  )
}

function Secret({ secret }: { secret: string }) {
  return (
    <Alert color="yellow" role="alert" title="Copy the secret now: it is shown only this once">
      <Stack gap="sm">
        <Text size="sm">
          Gantry keeps only a hash of it. Put it where your program reads it, and nowhere else: a program that
          has it can act as you within its scopes.
        </Text>
        <CopyField label="Secret" value={secret} />
      </Stack>
    </Alert>
  )
}
