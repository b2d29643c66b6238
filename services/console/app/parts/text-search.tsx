import { TextInput, type TextInputProps } from '@mantine/core'
import { useTypedText } from './typed-text.ts'

interface TextSearchProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  /** The text in the URL. */
  value: string | undefined
  onChange(value: string | undefined): void
}

/** A search that takes effect while the person types. It has no proposals, which would enlarge the first page. */
export function TextSearch({ value, onChange, ...props }: TextSearchProps) {
  const [typed, change] = useTypedText(value, onChange)
  return (
    <TextInput type="search" {...props} value={typed} onChange={event => change(event.currentTarget.value)} />
  )
}
