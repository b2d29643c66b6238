import { Badge } from '@mantine/core'

/** The colours of methods, as the documentation has them, with enough contrast for text in both themes. */
const COLORS: Readonly<Record<string, string>> = {
  GET: 'light-dark(#0b5fa5, #74c0fc)',
  POST: 'light-dark(#2b6a30, #8ce99a)',
  PUT: 'light-dark(#a33b00, #ffa94d)',
  PATCH: 'light-dark(#7a5200, #ffd43b)',
  DELETE: 'light-dark(#b02525, #ff8787)',
}

/** The method of an operation. */
export const MethodBadge = ({ method }: { method: string }) => (
  <Badge fullWidth px={{ base: 6, sm: 'xs' }} style={{ color: COLORS[method] }}>
    {method}
  </Badge>
)
