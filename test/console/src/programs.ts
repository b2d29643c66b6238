// Installs Chromium in CI before any test, so that no time limit of a test includes it. Elsewhere the tests say how to
// install it.
import { canInstall, findChromium, installChromium } from './chromium.ts'

if (process.env.CI && !findChromium() && canInstall()) {
  console.log('installing Chromium from Debian, once')
  installChromium()
}
