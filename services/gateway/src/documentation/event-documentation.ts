import { createHash } from 'node:crypto'
import { type Html, html } from '../html.ts'
import { schemaType, schemaView } from './schema-view.ts'

interface Reference {
  $ref: string
}
interface Message {
  title: string
  summary: string
  contentType: string
  headers?: Reference
  payload: object
  examples: { payload: unknown }[]
  'x-required-scope'?: string
}
interface Channel {
  address: string | null
  title: string
  description: string
  servers: Reference[]
  parameters?: Record<string, { description: string }>
  messages: Record<string, Reference>
}
interface Server {
  host: string
  protocol: string
  pathname?: string
  description: string
}
interface Operation {
  action: 'send' | 'receive'
  channel: Reference
  summary: string
}
/** The parts of an AsyncAPI document that the page shows. */
interface AsyncApi {
  info: { title: string; version: string; description: string }
  servers: Record<string, Server>
  channels: Record<string, Channel>
  operations: Record<string, Operation>
  components: { messages: Record<string, Message>; schemas: Record<string, object> }
}

export interface EventDocumentation {
  page: Buffer
  /** The Content-Security-Policy of the page: it loads nothing, and runs no scripts. */
  policy: string
}

/** Renders an AsyncAPI document as one page that loads nothing. @param basePath prefix of links to other pages */
export function eventDocumentation(document: object, basePath: string): EventDocumentation {
  const { info, servers, channels, operations, components } = document as AsyncApi
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${info.title}</title>
<style>${STYLE}</style>
</head>
<body>
<nav>
<strong>${info.title}</strong> ${info.version}
<ul>${Object.entries(channels).map(([name, { title }]) => html`<li><a href="#channel-${name}">${title}</a></li>`)}
<li><a href="#schemas">Schemas</a></li></ul>
<p><a href="${basePath}/asyncapi.json">AsyncAPI document</a><br><a href="${basePath}/events/schemas">JSON Schemas</a><br><a href="${basePath}/docs">REST interface</a></p>
</nav>
<main>
<h1>${info.title}</h1>
${prose(info.description)}
${Object.entries(channels).map(([name, channel]) =>
  channelView({ name, channel, servers, operations, messages: components.messages }),
)}
<h2 id="schemas">Schemas</h2>
${Object.entries(components.schemas).map(
  ([name, schema]) => html`<section id="schema-${name}"><h3>${name}</h3>${schemaView(schema)}</section>`,
)}
</main>
</body>
</html>
`
  const hash = createHash('sha256').update(STYLE.markup).digest('base64')
  return {
    page: Buffer.from(page.markup),
    policy: `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  }
}

const nameOf = ({ $ref }: Reference) => $ref.slice($ref.lastIndexOf('/') + 1)

/** Paragraphs with text in backticks as code. */
const prose = (text: string): Html =>
  html`${text
    .split('\n\n')
    .map(
      paragraph =>
        html`<p>${paragraph.split('`').map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}</p>`,
    )}`

interface ChannelView {
  name: string
  channel: Channel
  servers: Record<string, Server>
  operations: Record<string, Operation>
  messages: Record<string, Message>
}

function channelView({ name, channel, servers, operations, messages }: ChannelView): Html {
  const own = Object.values(operations).filter(operation => nameOf(operation.channel) === name)
  const serverNames = channel.servers.map(nameOf)
  return html`<section id="channel-${name}">
<h2>${channel.title}</h2>
${prose(channel.description)}
<dl>
<dt>Address</dt><dd><code>${channel.address ?? 'the url of the webhook'}</code></dd>
${Object.entries(channel.parameters ?? {}).map(
  ([parameter, { description }]) => html`<dt><code>{${parameter}}</code></dt><dd>${description}</dd>`,
)}
${own.map(({ action, summary }) => html`<dt>Gantry ${action}s</dt><dd>${summary}</dd>`)}
${serverNames.map(server => html`<dt>Server</dt><dd>${addressOf(servers[server])}</dd>`)}
</dl>
${Object.entries(channel.messages).map(([message, reference]) =>
  messageView(`${name}-${message}`, messages[nameOf(reference)]),
)}
</section>
`
}

const addressOf = (server: Server | undefined) =>
  server &&
  html`<code>${server.protocol}://${server.host}${server.pathname ?? ''}</code> ${server.description}`

function messageView(id: string, message: Message | undefined): Html {
  if (!message) return html``
  const { title, summary, contentType, headers, payload, examples, 'x-required-scope': scope } = message
  return html`<details id="${id}">
<summary><code>${title}</code> ${summary} <small>${contentType}${scope && `, ${scope}`}</small></summary>
${headers && html`<p>Headers: ${schemaType(headers)}</p>`}
<p>Payload: ${schemaType(payload)}</p>
${examples.map(example => html`<pre>${JSON.stringify(example.payload, null, 2)}</pre>`)}
</details>
`
}

const STYLE = html`
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; --line: #8884; }
body { margin: 0; display: grid; grid-template-columns: 16rem minmax(0, 60rem); gap: 2rem; }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1.5rem; box-sizing: border-box; border-right: 1px solid var(--line); }
nav ul { list-style: none; padding: 0; }
main { padding: 0 1.5rem 4rem; }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); }
code, pre { font: 14px/1.4 ui-monospace, monospace; }
pre { overflow: auto; padding: 1rem; background: #8881; }
details { border-bottom: 1px solid var(--line); padding: .3rem 0; }
summary { cursor: pointer; }
small { opacity: .7; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; }
dd { margin: 0; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); }
@media (max-width: 50rem) { body { display: block; } nav { position: static; height: auto; } }
`
