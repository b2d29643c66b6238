import { expect, test } from 'vitest'
import { html } from './html.ts'

test('Texts in markup are escaped, markup is not', () => {
  const text = `<script>"it's" & more</script>`
  expect(
    html`<p title="${text}">${html`<b>${text}</b>`}${false}${undefined}${[html`<i>`, html`${1}`]}</p>`.markup,
  ).toBe(
    '<p title="&lt;script&gt;&quot;it&#39;s&quot; &amp; more&lt;/script&gt;"><b>&lt;script&gt;&quot;it&#39;s&quot; &amp; more&lt;/script&gt;</b><i>1</p>',
  )
})
