import type { MouseEvent } from 'react'

/**
 * Makes a click anywhere in a row a click on its first link, with the same keys. Buttons, fields and other links keep their
 * clicks, and a click that ends a selection of text opens nothing.
 */
export const OPENS_ITS_LINK = {
  style: { cursor: 'pointer' },
  onClick({ currentTarget, target, nativeEvent }: MouseEvent<HTMLElement>) {
    if ((target as Element).closest('a, button, input, label') || getSelection()?.isCollapsed === false)
      return
    currentTarget.querySelector('a')?.dispatchEvent(new globalThis.MouseEvent('click', nativeEvent))
  },
}
