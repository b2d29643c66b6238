import { ReferencePicker } from '../../parts/reference-picker.tsx'

interface OwnerFieldProps {
  label: string
  /** User id; empty for none. */
  value: string
  error: string | undefined
  onChange: (id: string) => void
  /** Name of the user, for those who may not list users. */
  name?: string | null | undefined
}

/** The owner of an API: a search among the users, or their id for those who may not list users. */
export const OwnerField = ({ value, name, onChange, ...input }: OwnerFieldProps) => (
  <ReferencePicker
    {...input}
    kind="user"
    value={value || undefined}
    description={name ? `At present ${name}` : 'You, if it is left empty'}
    onChange={id => onChange(id ?? '')}
  />
)
