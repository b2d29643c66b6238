import { type Html, html } from './html.ts'
import { type Members, objectOf, schemaType, schemaView, textOf } from './schema-view.ts'

/** What a page shows of a channel, in any version of AsyncAPI. */
interface Channel {
  name: string
  title: string
  description: string | undefined
  address: string | undefined
  servers: Members[]
  parameters: [string, unknown][]
  /** Actions of the application with a summary. */
  actions: { action: 'send' | 'receive'; summary: string | undefined }[]
  messages: [string, Members][]
}

export interface AsyncApiPage {
  title: string
  /** The content of the body. */
  body: Html
  style: Html
}

interface PageOptions {
  /** What sends and receives, e.g. "Gantry". */
  subject: string
  /** Links above the page. */
  links?: Html
}

/**
 * Renders an AsyncAPI document of version 2 or 3 as a page that loads nothing and has no scripts. References to other files
 * are not followed. Members that break the rules of AsyncAPI are left out.
 */
export function asyncApiPage(document: object, { subject, links }: PageOptions): AsyncApiPage {
  const root = document as Members
  const { info, components } = root
  const { title, version, description } = objectOf(info)
  const channels = Object.entries(objectOf(root.channels)).map(([name, channel]) =>
    channelOf(root, name, channel),
  )
  const schemas = Object.entries(objectOf(objectOf(components).schemas))
  const name = textOf(title) ?? 'AsyncAPI'
  const body = html`${
    links &&
    html`<nav class="pages" aria-label="${subject}">${links}</nav>
`
  }<nav aria-label="Contents">
<strong>${name}</strong> ${textOf(version)}
<ul>${channels.map(({ name, title }) => html`<li><a href="#channel-${name}">${title}</a></li>`)}
${schemas.length > 0 && html`<li><a href="#schemas">Schemas</a></li>`}</ul>
</nav>
<main>
<h1>${name}</h1>
${prose(textOf(description))}
${channels.map(channel => channelView(channel, subject))}
${schemas.length > 0 && html`<h2 id="schemas">Schemas</h2>`}
${schemas.map(
  ([name, schema]) => html`<section id="schema-${name}"><h3>${name}</h3>${schemaView(schema)}</section>`,
)}
</main>`
  return { title: name, body, style: STYLE }
}

/** The value that a reference within the document points to; other values as they are. */
function resolved(root: Members, value: unknown): Members {
  let found = value
  // A reference to a reference may lead back to itself.
  for (let hops = 0; hops < 10; hops++) {
    const { $ref } = objectOf(found)
    if (typeof $ref !== 'string') return objectOf(found)
    if (!$ref.startsWith('#/')) return {}
    const steps = $ref.slice(2).split('/')
    found = steps.reduce<unknown>(
      (at, step) => objectOf(at)[step.replaceAll('~1', '/').replaceAll('~0', '~')],
      root,
    )
  }
  return {}
}

function channelOf(root: Members, name: string, value: unknown): Channel {
  const channel = resolved(root, value)
  const servers = Array.isArray(channel.servers) ? channel.servers : []
  const all = objectOf(root.servers)
  const common = {
    name,
    description: textOf(channel.description),
    parameters: Object.entries(objectOf(channel.parameters)),
    servers: servers.map(server =>
      typeof server === 'string' ? objectOf(all[server]) : resolved(root, server),
    ),
  }
  if (String(root.asyncapi).startsWith('2'))
    return { ...common, title: name, address: name, ...partsOf2(root, channel) }
  const operations = Object.values(objectOf(root.operations)).map(operation => resolved(root, operation))
  return {
    ...common,
    title: textOf(channel.title) ?? textOf(channel.address) ?? name,
    address: textOf(channel.address),
    actions: operations
      .filter(operation => resolved(root, operation.channel) === channel)
      .map(operation => ({
        action: operation.action === 'receive' ? 'receive' : 'send',
        ...summaryOf(operation),
      })),
    messages: Object.entries(objectOf(channel.messages)).map(([id, message]) => [
      id,
      resolved(root, message),
    ]),
  }
}

/** In version 2 clients subscribe to what the application sends, and publish what it receives. */
function partsOf2(root: Members, channel: Members): Pick<Channel, 'actions' | 'messages'> {
  const found: Pick<Channel, 'actions' | 'messages'> = { actions: [], messages: [] }
  for (const [key, action] of [
    ['subscribe', 'send'],
    ['publish', 'receive'],
  ] as const) {
    if (!channel[key]) continue
    const operation = objectOf(channel[key])
    const message = resolved(root, operation.message)
    const several = Array.isArray(message.oneOf) ? message.oneOf : operation.message ? [message] : []
    found.actions.push({ action, ...summaryOf(operation) })
    found.messages.push(
      ...several.map((each, at): [string, Members] => [`${action}-${at}`, resolved(root, each)]),
    )
  }
  return found
}

const summaryOf = ({ summary, description }: Members) => ({ summary: textOf(summary) ?? textOf(description) })

/** Paragraphs with text in backticks as code. */
const prose = (text = ''): Html =>
  html`${text
    .split('\n\n')
    .map(
      paragraph =>
        html`<p>${paragraph.split('`').map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}</p>`,
    )}`

function channelView(channel: Channel, subject: string): Html {
  const { name, title, description, address, servers, parameters, actions, messages } = channel
  return html`<section id="channel-${name}">
<h2>${title}</h2>
${prose(description)}
<dl>
${address && html`<dt>Address</dt><dd><code>${address}</code></dd>`}
${parameters.map(
  ([parameter, value]) =>
    html`<dt><code>{${parameter}}</code></dt><dd>${textOf(objectOf(value).description)}</dd>`,
)}
${actions.map(({ action, summary }) => html`<dt>${subject} ${action}s</dt><dd>${summary}</dd>`)}
${servers.map(server => html`<dt>Server</dt><dd>${addressOf(server)}</dd>`)}
</dl>
${messages.map(([id, message]) => messageView(`${name}-${id}`, message))}
</section>
`
}

const addressOf = ({ url, protocol, host, pathname, description }: Members) =>
  html`<code>${textOf(url) ?? `${protocol}://${host}${textOf(pathname) ?? ''}`}</code> ${textOf(description)}`

function messageView(id: string, message: Members): Html {
  const { contentType, headers, payload, examples } = message
  const name = textOf(message.title) ?? textOf(message.name) ?? 'Message'
  const scope = textOf(message['x-required-scope'])
  // Version 3 may name the language of the schema beside it.
  const schema = 'schema' in objectOf(payload) ? objectOf(payload).schema : payload
  return html`<details id="${id}">
<summary><code>${name}</code> ${textOf(message.summary)} <small>${textOf(contentType)}${scope && `, ${scope}`}</small></summary>
${headers !== undefined && html`<p>Headers: ${schemaType(headers)}</p>`}
${schema !== undefined && html`<p>Payload: ${schemaType(schema)}</p>`}
${(Array.isArray(examples) ? examples : []).map(
  example => html`<pre tabindex="0">${JSON.stringify(objectOf(example).payload, null, 2) ?? ''}</pre>`,
)}
</details>
`
}

const STYLE = html`
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; --line: #8884; --link: light-dark(#0b7285, #66d9e8); }
body { margin: 0; display: grid; grid-template-columns: 16rem minmax(0, 1fr); gap: 0 2rem; overflow-wrap: anywhere; background: light-dark(#fff, #242424); color: light-dark(#000, #d8d8d8); }
a { color: var(--link); } nav a { text-decoration: none; } nav a:hover { text-decoration: underline; }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1.5rem; box-sizing: border-box; border-right: 1px solid var(--line); }
nav.pages { grid-column: 1 / -1; position: static; height: auto; display: flex; flex-wrap: wrap; gap: .4rem 1.5rem; padding: .9rem 1.5rem; border: 0; border-bottom: 1px solid var(--line); }
nav .brand { display: flex; gap: .5rem; align-items: center; font-weight: 700; }
nav ul { list-style: none; padding: 0; } nav li { margin: .35rem 0; }
main { padding: 0 1.5rem 4rem; min-width: 0; max-width: 60rem; } h2 { margin-top: 3rem; padding-bottom: .3rem; border-bottom: 1px solid var(--line); }
code, pre { font: 14px/1.4 ui-monospace, monospace; }
pre { overflow: auto; padding: 1rem; border-radius: 4px; background: light-dark(#f1f3f5, #1a1a1a); overflow-wrap: normal; }
details { border-bottom: 1px solid var(--line); padding: .4rem 0; } summary { cursor: pointer; } small { color: light-dark(#495057, #b0b0b0); }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .2rem 1rem; } dt { font-weight: 600; } dd { margin: 0; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); }
@media (max-width: 50rem) { body { display: block; } nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); } nav, nav.pages, main { padding-inline: 1rem; } dl { grid-template-columns: minmax(0, 1fr); } table { table-layout: fixed; } }
`
