import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

export const HOW_TO_HAVE_CHROMIUM =
  'Chromium is needed: apt-get install chromium-headless-shell, or apt-get install chromium'

/** The headless shell first: it has no parts of a window, so each page costs less processor time. */
const PLACES = [
  process.env.CHROMIUM,
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
]

/** Path of the program; undefined if it is not installed. */
export const findChromium = (): string | undefined => PLACES.find(path => path && existsSync(path))

/** Whether this process may install packages of Debian. */
export const canInstall = (): boolean => process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')

/**
 * Installs Chromium with Debian's package manager: the headless shell, or all of Chromium where Debian has no such package.
 * @throws when a package cannot be downloaded
 */
export function installChromium(): void {
  aptGet('update')
  const install = (name: string) => aptGet('install', '-y', '--no-install-recommends', name)
  try {
    install('chromium-headless-shell')
  } catch {
    install('chromium')
  }
}

function aptGet(...args: string[]): void {
  execFileSync('apt-get', ['-qq', ...args], { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } })
}

/** Options for a start without a window, without the sandbox that root cannot use, and without requests to other hosts. */
export const CHROMIUM_ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Fewer processes.
  '--in-process-gpu',
  '--renderer-process-limit=1',
]

/** Starts Chromium for a program. @throws when it is not installed */
export async function openBrowser(): Promise<Browser> {
  const executablePath = findChromium()
  if (!executablePath) throw new Error(HOW_TO_HAVE_CHROMIUM)
  return chromium.launch({ executablePath, args: CHROMIUM_ARGUMENTS })
}
