import { Autocomplete, type AutocompleteProps } from '@mantine/core'
import { useTypedText } from './typed-text.ts'

interface TextFilterProps extends Omit<AutocompleteProps, 'value' | 'onChange' | 'data' | 'label'> {
  label: string
  /** The text in the URL. */
  value: string | undefined
  onChange(value: string | undefined): void
  /** Values that are proposed; others can be typed. */
  proposals: readonly string[]
}

/** A filter by a text that takes effect while the person types, with proposals. */
export function TextFilter({ value, onChange, proposals, ...props }: TextFilterProps) {
  const [typed, change] = useTypedText(value, onChange)
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
