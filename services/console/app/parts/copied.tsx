import { Button, Code, CopyButton, Group } from '@mantine/core'
import { hasClipboard } from './clipboard.ts'

/** A value that machines read, with a button that copies it. @param what names it, e.g. "trace id" */
export function Copied({ value, what }: { value: string; what: string }) {
  return (
    <Group gap="xs" wrap="nowrap" miw={0}>
      <Code style={{ overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap' }} title={value}>
        {value}
      </Code>
      <CopyValue value={value} what={what} />
    </Group>
  )
}

/** Copies a value; absent where nothing can be copied. @param what names it, e.g. "payload" */
export function CopyValue({ value, what }: { value: string; what: string }) {
  if (!hasClipboard) return null
  return (
    <CopyButton value={value}>
      {({ copied, copy }) => (
        <Button size="compact-xs" variant="default" onClick={copy} aria-label={`Copy the ${what}`}>
          {copied ? 'Copied' : 'Copy'}
        </Button>
      )}
    </CopyButton>
  )
}
