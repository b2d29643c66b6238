import type { OperationPlace, ShownDocument, Theme } from '../parts/frame-messages.ts'
import { sendByConsole } from './requests.ts'
import type { View } from './view.ts'

/** Path of the script, which the build sets. */
declare const REFERENCE_SCRIPT: string

interface Scalar {
  createApiReference(element: HTMLElement, configuration: object): void
}

/** The storage of an origin of its own cannot be used, and Scalar expects one. */
function replaceStorage(): void {
  for (const name of ['localStorage', 'sessionStorage']) {
    const kept = new Map<string, string>()
    const storage: Storage = {
      getItem: key => kept.get(key) ?? null,
      setItem: (key, value) => void kept.set(key, String(value)),
      removeItem: key => void kept.delete(key),
      clear: () => kept.clear(),
      key: index => [...kept.keys()][index] ?? null,
      get length() {
        return kept.size
      },
    }
    Object.defineProperty(window, name, { value: storage })
  }
}

async function loadScalar(): Promise<Scalar> {
  replaceStorage()
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const script = document.createElement('script')
  script.src = REFERENCE_SCRIPT
  script.onload = resolve
  script.onerror = () => reject(new Error('the reference could not be loaded'))
  document.head.append(script)
  await promise
  return (window as unknown as { Scalar: Scalar }).Scalar
}

/** The requests of the person. Others, e.g. for references to other files, are refused. */
const built = new WeakSet<object>()

const SETTINGS = {
  agent: { disabled: true },
  mcp: { disabled: true },
  documentDownloadType: 'none',
  hideClientButton: true,
  hideDarkModeToggle: true,
  persistAuth: false,
  proxyUrl: '',
  showDeveloperTools: 'never',
  telemetry: false,
  withDefaultFonts: false,
  // The identifiers of operations in the page.
  generateOperationSlug: ({ method, path }: OperationPlace) => slugOf({ method, path }),
  onRequestBuilt: ({ request }: { request: Request }) => void built.add(request),
  async customFetch(input: string | URL | Request) {
    if (input instanceof Request && built.has(input)) return sendByConsole(input)
    throw new TypeError('documents load nothing')
  },
}

const slugOf = ({ method, path }: OperationPlace) => `${method.toUpperCase()}${path}`

/** Shows an OpenAPI document with Scalar's API reference. */
export async function showOpenApi({ text }: ShownDocument, root: HTMLElement, theme: Theme): Promise<View> {
  const scalar = await loadScalar()
  const content = /^\s*\{/.test(text) ? JSON.parse(text) : text
  const { promise: loaded, resolve } = Promise.withResolvers<void>()
  scalar.createApiReference(root, {
    ...SETTINGS,
    content,
    forceDarkModeState: theme,
    onLoaded: () => resolve(),
  })
  await loaded
  return {
    theme(next) {
      document.body.classList.toggle('dark-mode', next === 'dark')
      document.body.classList.toggle('light-mode', next === 'light')
    },
    open(operation) {
      const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id)
      const id = ids.find(id => id.endsWith(`/${slugOf(operation)}`))
      if (id) document.getElementById(id)?.scrollIntoView()
    },
  }
}
