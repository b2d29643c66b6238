// Installs what is missing, then runs the script on Node 24. The files in this folder run on the host's own Node, see
// host-node.mjs, and before any package is installed.
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { exitCode, runChild } from './child.mjs'
import { install } from './install.mjs'
import { runtime } from './runtime.mjs'
import { countTests, describeCount, forgetResults } from './tally.mjs'
import { terminal } from './terminal.mjs'
import { Trouble } from './trouble.mjs'

/**
 * The program of each script, relative to the root of the repository, with its first arguments. `{name}` is the first
 * argument of the script.
 * @type {Record<string, string>}
 */
const programs = {
  start: 'services/standalone/src/main.ts',
  rebuild: 'packages/operations/src/main.ts rebuild',
  quarantine: 'packages/operations/src/main.ts quarantine',
  'rotate-keys': 'packages/operations/src/main.ts rotate-keys',
  demo: 'test/demo/src/main.ts',
  receiver: 'test/demo/src/receiver.ts',
  bench: 'test/bench/src/main.ts',
  cluster: 'test/cluster/src/main.ts',
  service: 'services/{name}/src/main.ts',
}

/**
 * The turbo tasks of each script.
 * @type {Record<string, string[]>}
 */
const suites = {
  test: ['lint', 'test'],
  check: ['lint'],
  'without-go': ['without-go'],
  journeys: ['journeys'],
  soak: ['soak'],
}

/** A larger young generation of V8's heap, because most garbage of a server comes from requests that have just ended. */
const FLAGS = ['--max-semi-space-size=32']

/** Time after a signal until the tests are killed, in milliseconds. */
const STOP_MS = 10_000

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const screen = terminal(process.stderr)

/**
 * Runs one script to its end.
 * @param {string} script a key of `suites` or of `programs`
 * @param {string[]} args the arguments after `--`
 * @returns {Promise<number>} the exit code
 */
async function launch(script, args) {
  const tasks = suites[script]
  if (tasks) {
    forgetResults(root, tasks.includes('test') ? undefined : tasks)
    await install(root, 'tools', screen)
    return runTasks(runtime(root), tasks, args)
  }
  const program = programPath(script, args)
  await install(root, needsTools(program.path) ? 'tools' : 'production', screen)
  return runProgram(runtime(root), program.path, program.args)
}

/**
 * Whether a program needs the test tools. Those under test/ do, except the demo, which users run beside a service.
 * @param {string} path
 */
function needsTools(path) {
  return path.startsWith('test/') && !path.startsWith('test/demo/')
}

/**
 * @param {string} script
 * @param {string[]} args
 */
function programPath(script, args) {
  const pattern = programs[script]
  if (!pattern)
    throw new Trouble(
      `There is no script "${script}".`,
      `There are: ${[...Object.keys(suites), ...Object.keys(programs)].join(', ')}.`,
    )
  const named = pattern.includes('{name}')
  const [name, ...others] = args
  if (named && !name)
    throw new Trouble(`"${script}" needs a name.`, `For example: npm run ${script} -- catalog`)
  const [path = '', ...first] = pattern.replace('{name}', name ?? '').split(' ')
  if (!existsSync(join(root, path))) throw new Trouble(`There is nothing to run at ${path}.`)
  return { path, args: [...first, ...(named ? others : args)] }
}

/**
 * @param {string} node
 * @param {string} path
 * @param {string[]} args
 */
async function runProgram(node, path, args) {
  return exitCode(await runChild(node, [...FLAGS, path, ...args], { cwd: root, env: environment(node) }))
}

/**
 * Runs tasks of every workspace. The failure of one does not stop the others.
 * @param {string} node
 * @param {string[]} tasks
 * @param {string[]} args further arguments of turbo, for example `--filter=@gantry/catalog`
 */
async function runTasks(node, tasks, args) {
  const turbo = join(root, 'node_modules/turbo/bin/turbo')
  // Journeys are few and long, so their output is shown while they run.
  const flags = ['--continue=always', `--log-order=${tasks.includes('test') ? 'grouped' : 'stream'}`]
  const { coloured } = terminal(process.stdout)
  const ended = await runChild(node, [turbo, 'run', ...tasks, ...flags, ...args], {
    cwd: root,
    graceMs: STOP_MS,
    env: {
      ...environment(node),
      GANTRY_LAUNCHER: String(process.pid),
      FORCE_COLOR: coloured ? '1' : undefined,
      NO_COLOR: coloured ? undefined : '1',
      TURBO_TELEMETRY_DISABLED: '1',
      // turbo starts vitest with npm, whose own output would repeat theirs.
      npm_config_loglevel: 'silent',
    },
  })
  // turbo exits with 0 when it is stopped.
  const code = ended.interrupted ? 128 + constants.signals[ended.interrupted] : exitCode(ended)
  if (tasks.every(task => task === 'lint')) return code
  for (const line of describeCount(countTests(root, tasks.includes('soak') ? tasks : undefined), {
    succeeded: code === 0,
    all: args.length === 0 && tasks.includes('test'),
  }))
    console.log(line)
  return code
}

/**
 * The environment of the started programs, in which `node` is Node 24. Compiled code is cached between runs, because
 * compiling takes a third of the CPU time of a start.
 * @param {string} node
 */
function environment(node) {
  const path = [dirname(node), join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter)
  return { NODE_COMPILE_CACHE: join(root, '.cache/compiled'), ...process.env, PATH: path }
}

try {
  process.exitCode = await launch(process.argv[2] ?? '', process.argv.slice(3))
} catch (error) {
  if (!(error instanceof Trouble)) throw error
  screen.fail(error.message, error.advice)
  process.exitCode = error.code
}
