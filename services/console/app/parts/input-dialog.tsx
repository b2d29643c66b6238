import { Modal, type ModalProps } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Discard, UnsavedGuard } from './leave-guards.tsx'

interface InputDialogProps
  extends Pick<ModalProps, 'size' | 'withCloseButton' | 'closeOnEscape' | 'closeOnClickOutside'> {
  title: string
  /** Whether there is input that closing the dialog would lose. */
  unsaved: boolean
  onClose: () => void
  /** @param close asks first if there is unsaved input, e.g. for the button Cancel */
  children: (close: () => void) => ReactNode
}

/** A dialog that asks before input is lost: when it is closed in any way, and when its page is left. */
export function InputDialog({ unsaved, onClose, children, ...modal }: InputDialogProps) {
  const [asking, setAsking] = useState(false)
  const close = () => (unsaved ? setAsking(true) : onClose())
  return (
    <Modal opened onClose={close} closeButtonProps={{ 'aria-label': 'Close' }} {...modal}>
      <UnsavedGuard unsaved={unsaved} />
      {/* Mounted only then: the question would close with the Escape that has opened it. */}
      {asking && <Discard opened onDiscard={onClose} onStay={() => setAsking(false)} />}
      {children(close)}
    </Modal>
  )
}
