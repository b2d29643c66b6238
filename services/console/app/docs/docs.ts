import './docs.css'
import { session } from '../http/session.ts'
import { loadScalar, SCALAR_SETTINGS } from '../parts/scalar.ts'

/** The colours that the person has chosen in the console, otherwise those of the browser. */
function isDark(): boolean {
  const chosen = localStorage.getItem('mantine-color-scheme-value') ?? 'auto'
  return chosen === 'auto' ? matchMedia('(prefers-color-scheme: dark)').matches : chosen === 'dark'
}

/** Requests carry the session of the console, then the token in an answer, e.g. of POST /login. */
async function showReference(root: HTMLElement): Promise<void> {
  const base = location.pathname.replace(/\/docs\/?$/, '')
  const [scalar, response] = await Promise.all([loadScalar(), fetch(`${base}/openapi.json`), session.ready])
  if (!response.ok) throw new Error(`GET ${base}/openapi.json was answered ${response.status}`)
  // The examples get the address of this service.
  const document = JSON.parse(
    (await response.text()).replaceAll('http://localhost:8080', location.origin + base),
  )
  const configuration = (token?: string) => ({
    ...SCALAR_SETTINGS,
    content: document,
    forceDarkModeState: isDark() ? 'dark' : 'light',
    authentication: { preferredSecurityScheme: 'bearer', securitySchemes: { bearer: { token } } },
    async customFetch(input: string | URL | Request, init?: RequestInit) {
      const answer = await fetch(input, init)
      const [, token] = /^Bearer (.+)$/.exec(answer.headers.get('authorization') ?? '') ?? []
      if (token) reference.updateConfiguration(configuration(token))
      return answer
    },
  })
  root.replaceChildren()
  const reference = scalar.createApiReference(root, configuration(session.current()?.token))
  session.subscribe(() => reference.updateConfiguration(configuration(session.current()?.token)))
}

const root = document.getElementById('reference')
if (root)
  showReference(root).catch(error => {
    root.textContent = `The documentation could not be loaded: ${error instanceof Error ? error.message : error}`
  })
