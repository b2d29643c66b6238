import type { OperationPlace, Theme } from '../parts/frame-messages.ts'

/** What shows a document. */
export interface View {
  theme?(theme: Theme): void
  /** Scrolls to an operation. */
  open?(operation: OperationPlace): void
}
