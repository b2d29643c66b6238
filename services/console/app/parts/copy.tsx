import { Box, Button, Code, CopyButton, Group, TextInput } from '@mantine/core'
import { useState } from 'react'

interface CopyProps {
  value: string
  /** What names the value, e.g. "trace id". */
  what: string
  /** Wraps a long value, which is cut otherwise. */
  wrap?: boolean
}

/** An identifier with a button that copies it. */
export function Copied({ value, what, wrap }: CopyProps) {
  return (
    <Group gap="xs" wrap="nowrap" miw={0}>
      <Code style={{ lineHeight: 1.8, ...(wrap ? WRAPPED : CUT) }} title={value}>
        {value}
      </Code>
      <Copy value={value} what={what} />
    </Group>
  )
}

const WRAPPED = { whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' } as const
const CUT = { overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap' } as const

/** A value in a field, with a button that copies it. Without access to the clipboard it is selected and copied by hand. */
export function CopyField({ label, value }: { label: string; value: string }) {
  return (
    <Group align="flex-end" gap="xs" wrap="nowrap">
      <TextInput
        label={label}
        value={value}
        readOnly
        onFocus={event => event.currentTarget.select()}
        styles={{
          // A smaller font has room for underscores, which the box of the line would cut off.
          input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13, lineHeight: 1.8 },
        }}
        style={{ flexGrow: 1 }}
      />
      <Copy what={label} value={value} size="sm" />
    </Group>
  )
}

interface CodeBlockProps {
  label: string
  text: string
  maxHeight: number | string
  /** Wraps long lines, which otherwise scroll. */
  wrap?: boolean
}

/** Height of a line in pixels. */
const LINE = 18.6

/** Code or JSON that scrolls in its own box, which the keyboard can reach. A button shows all lines of a longer text. */
export function CodeBlock({ label, text, maxHeight, wrap }: CodeBlockProps) {
  const [whole, setWhole] = useState(false)
  const lines = text.split('\n').length
  const isCut = typeof maxHeight === 'number' && lines * LINE > maxHeight
  return (
    <Box pos="relative">
      <Code
        block
        tabIndex={0}
        role="region"
        aria-label={label}
        {...(!whole && { mah: maxHeight })}
        style={{ overflow: 'auto', ...(wrap && WRAPPED) }}
      >
        {/* The first line ends before the button. */}
        {wrap && <span style={{ float: 'inline-end', width: 66, height: LINE }} />}
        {text}
      </Code>
      <Box pos="absolute" top={6} right={6}>
        <Copy what={label} value={text} />
      </Box>
      {isCut && (
        <Button size="compact-xs" variant="subtle" mt={4} onClick={() => setWhole(!whole)}>
          {whole ? 'Show fewer lines' : `Show all ${lines.toLocaleString('en')} lines`}
        </Button>
      )}
    </Box>
  )
}

/** Absent where the page cannot copy, as on pages that are served over HTTP without TLS. */
function Copy({ what, value, size = 'compact-xs' }: CopyProps & { size?: string }) {
  if (!('clipboard' in navigator)) return null
  return (
    <CopyButton value={value} timeout={2_000}>
      {({ copied, copy }) => (
        <Button
          size={size}
          variant="default"
          style={{ flexShrink: 0 }}
          onClick={copy}
          aria-label={`${copied ? 'Copied' : 'Copy'}: ${what}`}
        >
          {copied ? 'Copied' : 'Copy'}
        </Button>
      )}
    </CopyButton>
  )
}
