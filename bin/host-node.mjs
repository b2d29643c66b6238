// Read by the Node of the host, however old: with syntax that Node 12 knows, and no import.

/** The same range as `engines` in package.json; npm leaves packages of the platform out on any other Node. */
const SUPPORTED = '20.19 or a later 20, or 22.12 or later'

/**
 * Why nothing can be installed on the Node that the host has.
 * @param {string} version such as `20.18.3`
 * @returns {string[]} what is wrong and what to do about it, a line each; nothing when it is supported
 */
export function hostTrouble(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major >= 23 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19)) return []
  return [
    `Gantry needs Node ${SUPPORTED}, to be installed and started; this is Node ${version}.`,
    'Put one of these first on the PATH and run this again. Everything else runs on Node 24, which is installed then.',
  ]
}
