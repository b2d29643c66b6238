import { Box, Button, Code, CopyButton, Group, TextInput } from '@mantine/core'
import { hasClipboard } from './clipboard.ts'

/** A value to be copied with a button. It can also be selected, for browsers without access to the clipboard. */
export function CopyableValue({
  label,
  value,
  description,
}: {
  label: string
  value: string
  description?: string
}) {
  return (
    <Group align="flex-end" gap="xs" wrap="nowrap">
      <TextInput
        label={label}
        description={description}
        value={value}
        readOnly
        onFocus={event => event.currentTarget.select()}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        style={{ flexGrow: 1 }}
      />
      <Copy what={label} value={value} />
    </Group>
  )
}

/** Code or JSON that scrolls in its own box, which the keyboard can reach. */
export function CodeBlock({ label, text, maxHeight }: { label: string; text: string; maxHeight?: number }) {
  return (
    <Box pos="relative">
      <Code block tabIndex={0} role="region" aria-label={label} mah={maxHeight} style={{ overflow: 'auto' }}>
        {text}
      </Code>
      <Box pos="absolute" top={6} right={6}>
        <Copy what={label} value={text} size="compact-xs" />
      </Box>
    </Box>
  )
}

function Copy({ what, value, size = 'sm' }: { what: string; value: string; size?: string }) {
  if (!hasClipboard) return null
  return (
    <CopyButton value={value} timeout={2_000}>
      {({ copied, copy }) => (
        <Button
          size={size}
          variant="default"
          onClick={copy}
          aria-label={`${copied ? 'Copied' : 'Copy'}: ${what}`}
        >
          {copied ? 'Copied' : 'Copy'}
        </Button>
      )}
    </CopyButton>
  )
}
