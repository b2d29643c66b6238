import { type RefObject, useEffect } from 'react'

/** Moves the focus to the first field with an error when a submission is refused; without one it shows the message. */
export function useErrorFocus(form: RefObject<HTMLElement | null>, error: unknown): void {
  useEffect(() => {
    if (!error) return
    const field = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')
    if (field) field.focus()
    else form.current?.querySelector('[role=alert]')?.scrollIntoView({ block: 'center' })
  }, [form, error])
}
