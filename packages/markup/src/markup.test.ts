import { expect, test } from 'vitest'
import { asyncApiPage } from './asyncapi-page.ts'
import { html } from './html.ts'

test('Texts in markup are escaped, markup is not', () => {
  const text = `<script>"it's" & more</script>`
  expect(
    html`<p title="${text}">${html`<b>${text}</b>`}${false}${undefined}${[html`<i>`, html`${1}`]}</p>`.markup,
  ).toBe(
    '<p title="&lt;script&gt;&quot;it&#39;s&quot; &amp; more&lt;/script&gt;"><b>&lt;script&gt;&quot;it&#39;s&quot; &amp; more&lt;/script&gt;</b><i>1</p>',
  )
})

const markupOf = (document: object) => asyncApiPage(document, { subject: 'It' }).body.markup

const message = { name: 'Order', payload: { $ref: '#/components/schemas/order' }, examples: [{ payload: 1 }] }
const components = {
  messages: { 'a/b': message },
  schemas: { order: { properties: { id: { type: 'string' } } } },
}
const reference = { $ref: '#/components/messages/a~1b' }

test.for<[string, object]>([
  [
    '2',
    {
      asyncapi: '2.6.0',
      servers: { main: { url: 'nats://a.example', protocol: 'nats' } },
      channels: {
        orders: { servers: ['main'], subscribe: { summary: 'New', message: { oneOf: [reference] } } },
      },
      components,
    },
  ],
  [
    '3',
    {
      asyncapi: '3.0.0',
      servers: { main: { host: 'a.example', protocol: 'nats' } },
      channels: {
        o: { address: 'orders', servers: [{ $ref: '#/servers/main' }], messages: { new: reference } },
      },
      operations: { get: { action: 'send', summary: 'New', channel: { $ref: '#/channels/o' } } },
      components,
    },
  ],
])('a page of AsyncAPI %s has channels with actions, servers, messages and schemas', ([, document]) => {
  const page = markupOf(document)
  for (const part of [
    '<h2>orders</h2>',
    '<dt>It sends</dt><dd>New</dd>',
    '<dt>Server</dt><dd><code>nats://a.example</code>',
    '<summary><code>Order</code>',
    'Payload: <a href="#schema-order">order</a>',
    '<section id="schema-order">',
  ])
    expect(page).toContain(part)
})

test('a page of a document that breaks the rules has what can be shown, and no markup of the document', () => {
  const loop = { $ref: '#/channels/a' }
  const properties: Record<string, unknown> = {}
  properties.self = { properties }
  const page = markupOf({
    asyncapi: 3,
    info: { title: '<script>1</script>', description: ['x'] },
    channels: {
      a: loop,
      b: 5,
      c: { address: '"><img>', messages: { d: { payload: { properties } }, e: null } },
    },
    operations: [1, { channel: { $ref: 'https://a.example' } }],
    components: { schemas: { f: 1, '"<b>': { type: ['<i>'], enum: 3, properties: 'g', $ref: 7 } } },
  })
  expect(page).toContain('<h1>&lt;script&gt;1&lt;/script&gt;</h1>')
  expect(page).not.toMatch(/<(script|img|b|i)>/)
})
