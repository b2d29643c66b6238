import type { Page } from 'playwright-core'

export interface Scrolled {
  /** Milliseconds between two frames, in the order of the frames. */
  frames: number[]
  /** The largest number of rows in the document at a time. */
  mostRows: number
}

/** The list of the catalogue. */
export const grid = (page: Page) => page.getByRole('grid', { name: 'APIs' })

/** Opens the catalogue anew. @returns milliseconds until its rows are shown and it accepts input */
export async function untilInteractive(page: Page, console: string): Promise<number> {
  const search = page.getByRole('combobox', { name: 'Search APIs' })
  const startedAt = performance.now()
  await page.goto(`${console}/apis`, { waitUntil: 'commit' })
  await grid(page).getByRole('row').nth(1).waitFor()
  await search.fill('w')
  if ((await search.inputValue()) !== 'w') throw new Error('the search does not accept input')
  return performance.now() - startedAt
}

/** Scrolls the catalogue. @param step pixels in each frame @param frames the most frames; default: to the last row */
export const scrollThrough = (
  page: Page,
  step: number,
  frames = Number.MAX_SAFE_INTEGER,
): Promise<Scrolled> =>
  grid(page).evaluate(
    async (element, { step, frames }) => {
      const { requestAnimationFrame } = globalThis as unknown as {
        requestAnimationFrame(callback: (now: number) => void): void
      }
      const frame = () => new Promise<number>(resolve => requestAnimationFrame(resolve))
      const scrolled = { frames: [] as number[], mostRows: 0 }
      element.scrollTop = 0
      let before = await frame()
      while (
        scrolled.frames.length < frames &&
        element.scrollTop + element.clientHeight < element.scrollHeight - 1
      ) {
        element.scrollTop += step
        const now = await frame()
        scrolled.frames.push(now - before)
        scrolled.mostRows = Math.max(scrolled.mostRows, element.querySelectorAll('[role=row]').length)
        before = now
      }
      return scrolled
    },
    { step, frames },
  )
