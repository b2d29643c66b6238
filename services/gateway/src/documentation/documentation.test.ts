import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test } from 'vitest'
import { hostEdge } from '../testing/edge-host.ts'

interface Actions {
  setResponse(set: (...answer: unknown[]) => void): (...answer: unknown[]) => void
  parseToJson(): (text: string) => void
}
type Plugin = (page: object) => { statePlugins: { spec: { wrapActions: Actions } } }

test('the page at /docs uses the session of the console or the token of an answer, and parses the document as JSON', async () => {
  const { app, close } = await hostEdge()
  onTestFinished(close)
  const script = (await app.inject('/docs/static/swagger-initializer.js')).body
  let plugins: Plugin[] = []
  const bundle = (config: { plugins: Plugin[] }) => {
    plugins = config.plugins
    return { initOAuth() {} }
  }
  const window: { location: object; onload?(): void } = { location: { href: 'http://localhost/docs' } }
  runInNewContext(script, {
    window,
    sessionStorage: {
      getItem: (key: string) => (key === 'gantry.session' ? '{"token":"of-console"}' : null),
    },
    document: { createElement: () => ({}), querySelector: () => null },
    SwaggerUIBundle: Object.assign(bundle, { presets: {}, plugins: {} }),
    SwaggerUIStandalonePreset: {},
  })
  window.onload?.()

  const seen: unknown[] = []
  const page = {
    preauthorizeApiKey: (...token: string[]) => seen.push(token),
    specActions: { updateJsonSpec: (document: object) => seen.push(document) },
  }
  const [actions] = plugins.map(plugin => plugin(page).statePlugins.spec.wrapActions)
  const answer = actions?.setResponse((path, method) => seen.push([path, method]))
  answer?.('/login', 'post', { headers: { authorization: 'Bearer abc' } })
  answer?.('/apis', 'get', { headers: {} })
  actions?.parseToJson()('{"openapi":"3.1.0"}')
  const asked = [
    ['bearer', 'abc'],
    ['/login', 'post'],
    ['/apis', 'get'],
  ]
  expect(seen).toEqual([...asked, { openapi: '3.1.0' }, ['bearer', 'of-console']])
})
