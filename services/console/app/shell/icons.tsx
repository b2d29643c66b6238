import type { ReactNode } from 'react'

function Icon({ children }: { children: ReactNode }) {
  return (
    <svg
      width="18"
      height="18"
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden
    >
      {children}
    </svg>
  )
}

/** The icons of the areas by path. An area without one has that of a page. */
const OF_AREAS: Readonly<Record<string, ReactNode>> = {
  '/apis': <path d="M4 6h16M4 12h16M4 18h10" />,
  '/operations': <path d="M8 7l-5 5 5 5M16 7l5 5-5 5M14 4l-4 16" />,
  '/environments': <path d="M12 3l9 5-9 5-9-5zM3 13l9 5 9-5" />,
  '/jobs': <path d="M4 6l2 2 3-4M4 17l2 2 3-4M13 7h7M13 18h7" />,
  '/rule-sets': (
    <path d="M5 4h14v16H5zM8 9l1.500 1.500L12 8M8 15l1.500 1.500L12 14M14.500 9.500H16M14.500 15.500H16" />
  ),
  '/webhooks': <path d="M9 8a4 4 0 1 1 5 4l3 6M12 8l-4 8m-1 0a3 3 0 1 0 3 3h8a3 3 0 1 0-2-3" />,
  '/deliveries': <path d="M3 12l18-8-6 17-4-7zM11 14l4-4" />,
  '/events': <path d="M3 12h4l3-8 4 16 3-8h4" />,
  '/audit': <path d="M6 3h9l4 4v14H6zM9 12l2 2 4-4M9 18h7" />,
  '/users': (
    <path d="M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM2 21a7 7 0 0 1 14 0M17 4a4 4 0 0 1 0 7M18 14a7 7 0 0 1 4 7" />
  ),
  '/tokens': <path d="M14 10a5 5 0 1 0-4 4l1 1h2v2h2v2h2v2h4v-3z" />,
  '/system': <path d="M4 4h16v6H4zM4 14h16v6H4zM8 7h.01M8 17h.01" />,
}

export const AreaIcon = ({ path }: { path: string }) => (
  <Icon>{OF_AREAS[path] ?? <path d="M6 3h12v18H6z" />}</Icon>
)

export const SearchIcon = () => (
  <Icon>
    <path d="M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM21 21l-5-5" />
  </Icon>
)
export const SunIcon = () => (
  <Icon>
    <path d="M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.500 1.500M17.500 17.500L19 19M5 19l1.500-1.500M17.500 6.500L19 5" />
  </Icon>
)
export const MoonIcon = () => (
  <Icon>
    <path d="M20 14a8 8 0 1 1-10-10 7 7 0 0 0 10 10z" />
  </Icon>
)
export const HalfIcon = () => (
  <Icon>
    <path d="M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18" />
  </Icon>
)
export const KeyboardIcon = () => (
  <Icon>
    <path d="M2 6h20v12H2zM6 10h.01M10 10h.01M14 10h.01M18 10h.01M7 14h10" />
  </Icon>
)
export const ChevronIcon = () => (
  <Icon>
    <path d="M7 10l5 5 5-5" />
  </Icon>
)
