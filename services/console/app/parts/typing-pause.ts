import { useDebouncedCallback } from '@mantine/hooks'
import { useRouter } from '@tanstack/react-router'

/**
 * Calls back after a pause in typing. While another page is being opened it does not: the callback changes the URL, which
 * would replace the navigation to that page.
 */
export function useTypingPause(callback: (text: string) => void, ms: number): (text: string) => void {
  const router = useRouter()
  return useDebouncedCallback((text: string) => {
    const { location, resolvedLocation = location } = router.state
    if (location.pathname === resolvedLocation.pathname) callback(text)
  }, ms)
}
