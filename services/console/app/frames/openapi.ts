import type { OperationPlace, ShownDocument, Theme } from '../parts/frame-messages.ts'
import { loadScalar, SCALAR_SETTINGS } from '../parts/scalar.ts'
import { sendByConsole } from './requests.ts'
import type { View } from './view.ts'

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

/** The requests of the person. Others, e.g. for references to other files, are refused. */
const built = new WeakSet<object>()

const SETTINGS = {
  ...SCALAR_SETTINGS,
  // The identifiers of operations in the page.
  generateOperationSlug: ({ method, path }: OperationPlace) => slugOf({ method, path }),
  onRequestBuilt: ({ request }: { request: Request }) => void built.add(request),
  async customFetch(input: string | URL | Request) {
    if (input instanceof Request && built.has(input)) return sendByConsole(input)
    throw new TypeError('documents load nothing')
  },
}

const slugOf = ({ method, path }: OperationPlace) => `${method.toUpperCase()}${path}`

interface Shown {
  document: ShownDocument
  theme: Theme
  /** Whether the operations of all tags are in the page, and not only those of the first one. It takes longer. */
  unfolded: boolean
}

/** Shows an OpenAPI document with Scalar's API reference. */
export async function showOpenApi(
  root: HTMLElement,
  { document: { text }, theme, unfolded }: Shown,
): Promise<View> {
  replaceStorage()
  const scalar = await loadScalar()
  const content = /^\s*\{/.test(text) ? JSON.parse(text) : text
  const { promise: loaded, resolve } = Promise.withResolvers<void>()
  scalar.createApiReference(root, {
    ...SETTINGS,
    content,
    forceDarkModeState: theme,
    defaultOpenAllTags: unfolded,
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
