import { Badge } from '@mantine/core'
import type { ReactNode } from 'react'

/** A colour that stands out from the background in both themes: a dot, a bar or a line needs 3:1 (WCAG 2 AA). */
export const toneOf = (color: string): string =>
  `light-dark(var(--mantine-color-${color}-9), var(--mantine-color-${color}-4))`

/** A status in words, with a dot of its colour: teal is good, red needs attention, orange may, blue is under way. */
export function StateBadge({ color, children }: { color: string; children: ReactNode }) {
  return (
    <Badge variant="dot" color={toneOf(color)} miw="max-content">
      {children}
    </Badge>
  )
}
