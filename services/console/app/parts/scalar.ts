/** File name of the reference among the scripts of the build, which sets it. */
declare const REFERENCE_SCRIPT: string
/** URL of this script, and so of the folder of the others. */
const SCRIPTS = import.meta.url

interface Scalar {
  createApiReference(
    element: HTMLElement,
    configuration: object,
  ): { updateConfiguration(configuration: object): void }
}

/** Loads Scalar's API reference, which is a script of its own. */
export async function loadScalar(): Promise<Scalar> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const script = document.createElement('script')
  script.src = new URL(REFERENCE_SCRIPT, SCRIPTS).href
  script.onload = resolve
  script.onerror = () => reject(new Error('the reference could not be loaded'))
  document.head.append(script)
  await promise
  return (window as unknown as { Scalar: Scalar }).Scalar
}

/** The reference loads and keeps nothing of its own. */
export const SCALAR_SETTINGS = {
  agent: { disabled: true },
  mcp: { disabled: true },
  documentDownloadType: 'none',
  hideClientButton: true,
  hideDarkModeToggle: true,
  persistAuth: false,
  proxyUrl: '',
  // Ctrl and K open the command palette of the console.
  searchHotKey: 'i',
  showDeveloperTools: 'never',
  telemetry: false,
  withDefaultFonts: false,
}
