import { type RefObject, useEffect } from 'react'

/** Moves the focus to the first field with an error when a submission is refused. */
export function useErrorFocus(form: RefObject<HTMLElement | null>, error: unknown): void {
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [form, error])
}
