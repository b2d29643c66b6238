import { Alert, Box, Text, useComputedColorScheme } from '@mantine/core'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { CONSOLE_PATH } from '../../http/place.ts'
import type {
  DocumentRequest,
  FromFrame,
  OperationPlace,
  ShownDocument,
  ToFrame,
} from '../../parts/frame-messages.ts'
import { Loading } from '../../parts/states.tsx'
import classes from './documents.module.css'
import { LinkDialog, RequestDialog } from './frame-dialogs.tsx'
import { originOf, requestIn, sendInFrame } from './frame-requests.ts'

interface DocumentFrameProps {
  name: string
  shown: ShownDocument
  /** The operation to which it scrolls. */
  operation: OperationPlace | undefined
}

/** A request that waits for the person to confirm its host. */
interface AskedRequest {
  id: number
  origin: string
  request: DocumentRequest
}

/**
 * Shows a document in a frame with an origin and a policy of its own: what is in the document reaches neither the session
 * nor any host. Requests and links of the document are in the hands of the person. Another document needs another key.
 */
export function DocumentFrame({ name, shown, operation }: DocumentFrameProps) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [state, setState] = useState<'loading' | 'shown' | { failed: string }>('loading')
  const [link, setLink] = useState<string>()
  const theme = useComputedColorScheme('light')
  const tell = (message: ToFrame) => frame.current?.contentWindow?.postMessage(message, '*')
  const { asked, ask, confirm, refuse } = useRequests(tell)
  const hear = useEffectEvent((message: FromFrame) => {
    if (message.type === 'ready') tell({ type: 'show', document: shown, theme, operation })
    else if (message.type === 'shown') setState('shown')
    else if (message.type === 'failed') setState({ failed: String(message.reason) })
    else if (message.type === 'link' && isFollowed(message.href)) setLink(message.href)
    else if (message.type === 'request') ask(message.id, requestIn(message.request))
  })
  useEffect(() => {
    const listen = ({ source, data }: MessageEvent<FromFrame>) => {
      if (source === frame.current?.contentWindow && typeof data === 'object' && data !== null) hear(data)
    }
    window.addEventListener('message', listen)
    return () => window.removeEventListener('message', listen)
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: what the frame is told is its state, not that of this one
  useEffect(() => tell({ type: 'theme', theme }), [theme])
  const place = operation && `${operation.method} ${operation.path}`
  // biome-ignore lint/correctness/useExhaustiveDependencies: an operation is equal to one with the same place
  useEffect(() => {
    if (operation && state === 'shown') tell({ type: 'open', operation })
  }, [place])
  return (
    <Box pos="relative">
      {state === 'loading' && (
        <Box className={classes.waiting}>
          <Loading what={`${name} (${sizeText(shown.text.length)})`} />
        </Box>
      )}
      {typeof state === 'object' && (
        <Alert color="red" title="The document cannot be shown" role="alert">
          <Text size="sm">{state.failed}</Text>
          <Text size="sm">Download it instead.</Text>
        </Alert>
      )}
      <iframe
        ref={frame}
        title={`Document ${name}`}
        sandbox="allow-scripts"
        src={`${CONSOLE_PATH}frames/document`}
        className={classes.frame}
        hidden={typeof state === 'object'}
      />
      {link !== undefined && <LinkDialog href={link} onClose={() => setLink(undefined)} />}
      {asked && <RequestDialog {...asked} onConfirm={confirm} onClose={refuse} />}
    </Box>
  )
}

/** The requests of a document: each host is confirmed once. */
function useRequests(tell: (message: ToFrame) => void) {
  const [asked, setAsked] = useState<AskedRequest>()
  const confirmed = useRef(new Set<string>())
  const answer = async (id: number, request: DocumentRequest) =>
    tell({ type: 'response', id, response: await sendInFrame(request) })
  const refuse = (id: number, error: string) => tell({ type: 'response', id, response: { error } })
  return {
    asked,
    ask(id: number, request: DocumentRequest | undefined) {
      const origin = request && originOf(request.url)
      if (!request || !origin) return refuse(id, 'Only http and https URLs can be requested.')
      if (confirmed.current.has(origin)) return void answer(id, request)
      // A second one while the person decides is refused.
      if (asked) return refuse(id, 'Another request waits for your confirmation.')
      setAsked({ id, origin, request })
    },
    confirm() {
      if (!asked) return
      confirmed.current.add(asked.origin)
      setAsked(undefined)
      void answer(asked.id, asked.request)
    },
    refuse() {
      if (asked) refuse(asked.id, `You have not allowed requests to ${asked.origin}.`)
      setAsked(undefined)
    },
  }
}

/** Whether a link of a document is one that a browser opens as a page or a mail. */
const isFollowed = (href: unknown): href is string =>
  typeof href === 'string' && URL.canParse(href) && /^(https?|mailto):$/.test(new URL(href).protocol)

const sizeText = (bytes: number) =>
  bytes < 1_048_576 ? `${Math.ceil(bytes / 1_024)} KiB` : `${(bytes / 1_048_576).toFixed(1)} MiB`
