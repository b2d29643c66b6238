import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { exitCode, runChild } from './child.mjs'
import { readNpm } from './npm-output.mjs'
import { installTrouble, Trouble } from './trouble.mjs'

/**
 * These override the user's npmrc and environment. Engines are not strict, because only npm runs on the host's older Node.
 * Install scripts, which could need a compiler, are not run, because no package needs one.
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

/** The pauses between retries add up to nine seconds, those of npm's defaults to more than a minute. */
const patience = {
  npm_config_fetch_retries: '3',
  npm_config_fetch_retry_mintimeout: '1000',
  npm_config_fetch_retry_maxtimeout: '5000',
  npm_config_fetch_retry_factor: '3',
}

/** Time without output from npm after which a hint is shown, in milliseconds. */
const silentMs = 15_000

/**
 * Runs `npm ci` with the npm and the Node that started this process, and reports the progress. Tools are added by `npm
 * install`, because `npm ci` would first remove the packages of a running service. Both install what the lockfile names.
 * @param {string} root
 * @param {object} what
 * @param {import('./stamp.mjs').Part} what.part
 * @param {boolean} what.adding whether the production part is installed and only the tools are added
 * @param {object} listener
 * @param {() => void} listener.onFetched called for each fetched package
 * @param {(hint: string) => void} listener.onHint called with the reason of a delay; with an empty text once it is over
 * @throws {Trouble} when npm fails, or with exit code 128 plus the signal number, e.g. 130, when it was interrupted
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
  // An explicit --include takes precedence over NODE_ENV=production.
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
  // npm 10 may exit with 0 after a failure. It writes the hidden lockfile last, so that file shows success.
  if (ended.code === 0 && existsSync(join(root, 'node_modules/.package-lock.json'))) return
  throw installTrouble(npm.verdict.code, { root, ...npm.verdict })
}

/** @returns {[string, string[]]} */
function npmCommand() {
  const { npm_execpath: script, npm_node_execpath: node } = process.env
  if (script && node && /npm-cli\.c?js$/.test(script)) return [node, [script]]
  return process.platform === 'win32' ? ['cmd.exe', ['/c', 'npm']] : ['npm', []]
}
