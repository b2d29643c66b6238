import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { exitCode, runChild } from './child.mjs'
import { readNpm } from './npm-output.mjs'
import { installTrouble, Trouble } from './trouble.mjs'

/**
 * Said here rather than left to the user's npmrc or environment: an older Node on the host is no obstacle (only npm runs on it), and no package needs an install script, which
 * could ask for a compiler.
 */
const flags = [
  '--include=prod',
  '--include=optional',
  '--no-engine-strict',
  '--ignore-scripts',
  '--bin-links',
  '--no-audit',
  '--no-fund',
  '--no-update-notifier',
  '--no-progress',
  '--loglevel=http',
]

/** npm's own pauses between tries add up to over a minute; these to nine seconds. */
const patience = {
  npm_config_fetch_retries: '3',
  npm_config_fetch_retry_mintimeout: '1000',
  npm_config_fetch_retry_maxtimeout: '5000',
  npm_config_fetch_retry_factor: '3',
}

/** A registry silent for this long is worth a word. */
const silentMs = 15_000

/**
 * Runs `npm ci` with the npm that called us and on its Node, and tells how it goes. Tools are added to what is there by
 * `npm install`, because `npm ci` would first remove what a running service needs. Both take what the lockfile names.
 * @param {string} root
 * @param {object} what
 * @param {import('./stamp.mjs').Part} what.part
 * @param {boolean} what.adding whether the production part is there and stays
 * @param {object} listener
 * @param {() => void} listener.onFetched one more package has come
 * @param {(hint: string) => void} listener.onHint why it takes so long; empty when it no longer does
 * @throws {Trouble} saying what is wrong, exit code 130 and its like when it was interrupted
 */
export async function npmCi(root, { part, adding }, { onFetched, onHint }) {
  const env = { ...patience, ...process.env }
  const npm = readNpm({
    tries: Number(env.npm_config_fetch_retries) + 1,
    onFetched: () => {
      onFetched()
      onHint('')
    },
    onRetry: reason => onHint(`no answer from the registry (${reason}), trying again`),
  })
  const silence = () => onHint('waiting for the registry to answer')
  let silent = setTimeout(silence, silentMs)

  const [command, args] = npmCommand()
  const script = adding ? ['install', '--no-save', '--package-lock'] : ['ci']
  // An explicit --include also outdoes NODE_ENV=production.
  const tools = part === 'tools' ? '--include=dev' : '--omit=dev'
  const ended = await runChild(command, [...args, ...script, tools, ...flags], {
    cwd: root,
    env,
    graceMs: 1_000,
    onLine(line, stop) {
      clearTimeout(silent)
      silent = setTimeout(silence, silentMs)
      if (npm.line(line)) stop()
    },
  })
    .catch(error => {
      throw error.code === 'ENOENT' ? installTrouble('ENONPM', { root }) : error
    })
    .finally(() => clearTimeout(silent))

  if (ended.interrupted) {
    throw new Trouble(
      'Stopped while installing: the next run starts the install again.',
      '',
      exitCode({ ...ended, code: null, signal: ended.interrupted }),
    )
  }
  // npm 10 has ended with code 0 after failing; the hidden lockfile is what it writes at the very end.
  if (ended.code === 0 && existsSync(join(root, 'node_modules/.package-lock.json'))) return
  throw installTrouble(npm.verdict.code, { root, ...npm.verdict })
}

/** @returns {[string, string[]]} */
function npmCommand() {
  const { npm_execpath: script, npm_node_execpath: node } = process.env
  if (script && node && /npm-cli\.c?js$/.test(script)) return [node, [script]]
  return process.platform === 'win32' ? ['cmd.exe', ['/c', 'npm']] : ['npm', []]
}
