import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

export const HOW_TO_HAVE_CHROMIUM = 'Chromium is needed: apt-get install chromium'

const PLACES = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser']

/** Path of the program; undefined if it is not installed. */
export const findChromium = (): string | undefined => PLACES.find(path => path && existsSync(path))

/** Whether this process may install packages of Debian. */
export const canInstall = (): boolean => process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')

/** Installs Chromium with Debian's package manager. @throws when a package cannot be downloaded */
export function installChromium(): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', 'chromium']])
    execFileSync('apt-get', ['-qq', ...args], { env })
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
]

/** Starts Chromium for a program. @throws when it is not installed */
export async function openBrowser(): Promise<Browser> {
  const executablePath = findChromium()
  if (!executablePath) throw new Error(HOW_TO_HAVE_CHROMIUM)
  return chromium.launch({ executablePath, args: CHROMIUM_ARGUMENTS })
}
