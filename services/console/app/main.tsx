import './styles.ts'
import { Alert, Badge, type CSSVariablesResolver, createTheme, MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queries } from './http/queries.ts'
import { session } from './http/session.ts'
import { MessagesArea } from './parts/messages-area.tsx'
import { router } from './router.tsx'
import { watchImports } from './shell/failed-import.ts'
import { followHeadings } from './shell/headings.ts'

/** The darker shades of cyan have the contrast that WCAG 2 AA asks for, in both themes. */
const theme = createTheme({
  primaryColor: 'cyan',
  primaryShade: { light: 9, dark: 9 },
  defaultRadius: 'sm',
  respectReducedMotion: true,
  fontFamily: 'system-ui, sans-serif',
  fontFamilyMonospace: 'ui-monospace, monospace',
  components: {
    // The colours of alerts have too little contrast with their backgrounds for text.
    Alert: Alert.extend({ styles: { title: { color: 'var(--mantine-color-text)' } } }),
    Badge: Badge.extend({ defaultProps: { variant: 'default', tt: 'none', fw: 500 } }),
    Modal: { styles: { title: { fontWeight: 600, fontSize: 'var(--mantine-font-size-lg)' } } },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
  },
})

/** A button under the pointer is darker, not lighter. */
const HOVERED = { '--mantine-color-cyan-filled-hover': '#0a6475' }

/**
 * Dimmed text, placeholders, what is disabled, errors at fields, and buttons under the pointer, with the contrast that
 * WCAG 2 AA asks for.
 */
const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': '#60676e',
    '--mantine-color-disabled-color': '#60676e',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    ...HOVERED,
  },
  dark: {
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': '#a0a0a0',
    '--mantine-color-disabled-color': '#a0a0a0',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    ...HOVERED,
  },
})

watchImports()
followHeadings(router)
const root = document.getElementById('root')
if (!root) throw new Error('the page has no element with the id root')
const tree = (
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={variables} defaultColorScheme="auto">
      <QueryClientProvider client={queries}>
        <MessagesArea />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>
)
// Awaited here, the modules of the first page would become many files, which are larger than one.
void session.ready.then(() => createRoot(root).render(tree))
