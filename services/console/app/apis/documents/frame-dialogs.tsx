import { Button, Code, Group, Modal, Stack, Text } from '@mantine/core'
import type { DocumentRequest } from '../../parts/frame-messages.ts'

/** Shows where a link of a document leads before it is opened. */
export function LinkDialog({ href, onClose }: { href: string; onClose: () => void }) {
  const { host, pathname, protocol } = new URL(href)
  return (
    <Dialog title={`Open ${protocol === 'mailto:' ? pathname : host}?`} onClose={onClose}>
      <Text size="sm">A link in the document leads to</Text>
      <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {href}
      </Code>
      <Buttons onClose={onClose}>
        <Button component="a" href={href} target="_blank" rel="noopener noreferrer" onClick={onClose}>
          Open in a new tab
        </Button>
      </Buttons>
    </Dialog>
  )
}

interface RequestDialogProps {
  origin: string
  request: DocumentRequest
  onConfirm: () => void
  onClose: () => void
}

/** Asks before a document sends its first request to a host. */
export function RequestDialog({ origin, request, onConfirm, onClose }: RequestDialogProps) {
  return (
    <Dialog title={`Send a request to ${new URL(origin).host}?`} onClose={onClose}>
      <Text size="sm">
        The document sends the request below, with what you have typed into it. Your session of Gantry is not
        part of it. Further requests of this document to the same host are sent without a question.
      </Text>
      <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {request.method} {request.url}
      </Code>
      <Buttons onClose={onClose}>
        <Button onClick={onConfirm}>Send</Button>
      </Buttons>
    </Dialog>
  )
}

interface DialogProps {
  title: string
  onClose: () => void
  children: React.ReactNode
}

function Dialog({ title, onClose, children }: DialogProps) {
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack>{children}</Stack>
    </Modal>
  )
}

function Buttons({ onClose, children }: Omit<DialogProps, 'title'>) {
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={onClose} data-autofocus>
        Cancel
      </Button>
      {children}
    </Group>
  )
}
