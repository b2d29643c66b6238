// Loaded by the Node of the host, which may be old: uses only syntax of Node 12 and no import.

/**
 * Checks the Node version of the host. On versions outside of `engines` in package.json, npm skips packages of the platform.
 * @param {string} version such as `20.18.3`
 * @returns {string[]} a line with the problem and a line with the remedy; empty when the version is supported
 */
export function unsupportedNode(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major >= 23 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19)) return []
  return [
    `Gantry needs Node 20.19 or a later 20, or 22.12 or later, to be installed and started; this is Node ${version}.`,
    'Put one of these first on the PATH and run this again. Everything else runs on Node 24, which is installed then.',
  ]
}
