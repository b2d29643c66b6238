import { Autocomplete, TextInput } from '@mantine/core'
import { useTypedText } from './typed-text.ts'

interface TextFilterProps {
  label: string
  /** The text in the URL. */
  value: string | undefined
  onChange(value: string | undefined): void
  placeholder?: string
  type?: 'search'
  /** Values that are proposed; others can be typed. */
  proposals?: readonly string[]
}

/** A filter by a text that takes effect while the person types. */
export function TextFilter({ value, onChange, proposals, ...props }: TextFilterProps) {
  const [typed, change] = useTypedText(value, onChange)
  if (!proposals)
    return <TextInput {...props} value={typed} onChange={event => change(event.currentTarget.value)} />
  return (
    <Autocomplete
      {...props}
      data={[...proposals]}
      value={typed}
      onChange={change}
      limit={30}
      clearable
      clearButtonProps={{ 'aria-label': `Clear ${props.label}` }}
    />
  )
}
