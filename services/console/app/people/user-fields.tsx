import { Fieldset, PasswordInput, Radio, Stack, Switch, TextInput } from '@mantine/core'
import type { Schemas } from '../http/schemas.ts'
import { useSession } from '../http/session.ts'
import { mayGrant, ROLE_NAMES, ROLE_TEXTS, ROLES } from './roles.ts'
import { LABELS, type UserDraft } from './user-draft.ts'

interface UserFieldsProps {
  draft: UserDraft
  errors: Readonly<Record<string, string>>
  onChange: (draft: UserDraft) => void
  /** Whether the user is new, and so without a password. */
  created?: boolean
}

/** The fields of a user. */
export function UserFields({ draft, errors, onChange, created }: UserFieldsProps) {
  const set = (change: Partial<UserDraft>) => onChange({ ...draft, ...change })
  const textField = (field: 'username' | 'displayName' | 'email') => ({
    label: LABELS[field],
    value: draft[field],
    error: errors[field],
    autoComplete: 'off',
    onChange: (event: { currentTarget: { value: string } }) => set({ [field]: event.currentTarget.value }),
  })
  return (
    <Stack>
      <TextInput {...textField('username')} required autoCapitalize="none" spellCheck={false} />
      <TextInput {...textField('displayName')} description="Without it, the user name is shown." />
      <TextInput {...textField('email')} type="email" />
      <RoleField role={draft.role} error={errors.role} onChange={role => set({ role })} />
      <StatusField status={draft.status} error={errors.status} onChange={status => set({ status })} />
      <Switch
        label="Signs in through single sign-on"
        description="Only administrators with single sign-on may sign in by password as well."
        checked={draft.sso}
        error={errors.sso}
        onChange={event => set({ sso: event.currentTarget.checked })}
      />
      {created && (
        <PasswordInput
          label={LABELS.password}
          description="At least 12 characters. It is needed unless the user signs in through single sign-on."
          autoComplete="new-password"
          required={!draft.sso}
          value={draft.password}
          error={errors.password}
          visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the password', tabIndex: 0 }}
          onChange={event => set({ password: event.currentTarget.value })}
        />
      )}
    </Stack>
  )
}

interface RoleFieldProps {
  role: Schemas['Role']
  error: string | undefined
  onChange: (role: Schemas['Role']) => void
}

function RoleField({ role, error, onChange }: RoleFieldProps) {
  const own = useSession()?.user.role ?? 'NO_ACCESS'
  return (
    <Fieldset legend={LABELS.role}>
      <Radio.Group
        aria-label={LABELS.role}
        value={role}
        error={error}
        onChange={value => onChange(ROLES.find(name => name === value) ?? role)}
      >
        <Stack gap="sm">
          {ROLES.map(name => (
            <Radio
              key={name}
              value={name}
              label={ROLE_NAMES[name]}
              description={
                mayGrant(own, name) ? ROLE_TEXTS[name] : `${ROLE_TEXTS[name]} It is above your own role.`
              }
              disabled={!mayGrant(own, name)}
            />
          ))}
        </Stack>
      </Radio.Group>
    </Fieldset>
  )
}

interface StatusFieldProps {
  status: UserDraft['status']
  error: string | undefined
  onChange: (status: UserDraft['status']) => void
}

function StatusField({ status, error, onChange }: StatusFieldProps) {
  return (
    <Fieldset legend={LABELS.status}>
      <Radio.Group
        aria-label={LABELS.status}
        value={status}
        error={error}
        onChange={value => onChange(value === 'INACTIVE' ? 'INACTIVE' : 'ACTIVE')}
      >
        <Stack gap="sm">
          <Radio value="ACTIVE" label="Active" description="May sign in and use access tokens." />
          <Radio
            value="INACTIVE"
            label="Inactive"
            description="Cannot sign in. Logins end at once, and access tokens are refused until the user is active again."
          />
        </Stack>
      </Radio.Group>
    </Fieldset>
  )
}
