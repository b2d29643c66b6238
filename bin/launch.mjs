// Installs what is missing, then runs the script on Node 24. The files in this folder run on the host's own Node, see
// host-node.mjs, and before any package is installed.
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { exitCodeOf, runChild } from './child.mjs'
import { measureEffort } from './effort.mjs'
import { install } from './install.mjs'
import { runtime, UserError } from './runtime.mjs'
import { countTests, describeCount, forgetResults, hasScript, workspaces } from './tally.mjs'
import { USAGES } from './usage.mjs'

const OPERATIONS = 'services/operations/src/main.ts'
/** Commands of operators, which have the names of their scripts. */
const COMMANDS =
  `--help rebuild backup restore restore-check reset quarantine copy-images rotate-keys reseal events
  audit`.split(/\s+/)
/** The programs of scripts. `{name}` is the first argument of the script. @type {Record<string, string[]>} */
const PROGRAMS = {
  // `gantry` without a script.
  '': [OPERATIONS],
  ...Object.fromEntries(COMMANDS.map(name => [name, [OPERATIONS, name]])),
  start: ['services/standalone/src/main.ts', '--build-console'],
  console: ['services/console/src/main.ts'],
  demo: ['test/demo/src/main.ts'],
  receiver: ['test/demo/src/receiver.ts'],
  bench: ['test/bench/src/main.ts'],
  screenshots: ['test/console/src/screenshots.ts'],
  cluster: ['test/cluster/src/main.ts'],
  service: ['services/{name}/src/main.ts'],
  release: ['bin/release.mjs'],
}
/** Scripts that run the turbo tasks of the same name. */
const SUITES = ['journeys', 'soak']
/** The turbo tasks of other scripts. @type {Record<string, string[]>} */
const TASKS = { test: ['lint', 'test'], check: ['lint'] }
/** The workspaces whose journeys take longest, which start first, so that none of them runs alone at the end. */
const LONGEST = 'console cluster faults engines clients launcher deploy histories'.split(' ')
/** The number of workspaces whose journeys run at the same time. With more, processes wait for each other's processors. */
const LANES = availableParallelism()
/** A larger young generation of V8's heap, because most garbage of a server comes from requests that have just ended. */
const V8_FLAGS = ['--max-semi-space-size=32']

const root = dirname(dirname(fileURLToPath(import.meta.url)))

const isName = (/** @type {string} */ script) => /^\w/.test(script)

/** @type {(script: string, args: string[]) => string[]} */
function programOf(script, [...args]) {
  const [pattern, ...first] = PROGRAMS[script] ?? []
  const scripts = `There are: ${[...Object.keys({ ...TASKS, ...PROGRAMS }), ...SUITES].filter(isName).join(', ')}.`
  if (!pattern) throw new UserError(`There is no script "${script}".`, scripts)
  const name = pattern.includes('{name}') ? args.shift() : ''
  if (name === undefined)
    throw new UserError(`"${script}" needs a name.`, `For example: npm run ${script} -- catalog`)
  const path = pattern.replace('{name}', name)
  if (!existsSync(join(root, path))) throw new UserError(`There is nothing to run at ${path}.`)
  return [path, ...first, ...args]
}

/** Runs a program to its end and resolves with its exit code. @param {string[]} program its path and its arguments */
async function runProgram([path = '', ...args]) {
  // Programs under test/ need the test tools, except the demo, which users run beside a service.
  await install(root, /^test\/(?!demo\/)/.test(path) ? 'tools' : 'production')
  const node = runtime(root)
  const { code } = await runChild([node, ...V8_FLAGS, path, ...args], { cwd: root, env: environment(node) })
  return code
}

/**
 * Runs tasks of every workspace with turbo and its further arguments, for example `--filter=@gantry/catalog`. The failure
 * of one does not stop the others. Resolves with the exit code.
 * @type {(tasks: string[], args: string[]) => Promise<number>}
 */
async function runTasks(tasks, args) {
  const tests = tasks.includes('test')
  forgetResults(root, tests ? undefined : tasks)
  await install(root, 'tools')
  const node = runtime(root)
  // Journeys are few and long, so their output is shown while they run.
  const flags = ['--continue=always', `--log-order=${tests ? 'grouped' : 'stream'}`]
  const coloured = process.stdout.hasColors?.()
  const env = {
    ...environment(node),
    GANTRY_LAUNCHER: String(process.pid),
    FORCE_COLOR: coloured ? '1' : undefined,
    NO_COLOR: coloured ? undefined : '1',
    TURBO_TELEMETRY_DISABLED: '1',
    // turbo starts vitest with npm, whose own output would repeat theirs.
    npm_config_loglevel: 'silent',
  }
  /** @type {Turbo} */
  const turbo = (tasks, ...args) => {
    const command = [node, join(root, 'node_modules/turbo/bin/turbo'), 'run', ...tasks, ...flags, ...args]
    return runChild(command, { cwd: root, env, killAfterMs: 10_000 })
  }
  const effortOf = measureEffort()
  const ended = await (tasks.includes('journeys') && args.length === 0
    ? runInLanes(turbo)
    : turbo(tasks, ...args))
  const effort = effortOf()
  // turbo exits with 0 when it is stopped.
  const code = ended.signal ? exitCodeOf(ended.signal) : ended.code
  if (tasks.every(task => task === 'lint')) return code
  const grown = tests && args.length === 0 && effort ? excessOf(effort) : undefined
  const succeeded = code === 0 && grown === undefined
  const count = countTests(root, tasks)
  if (effort)
    console.log(`Processor time: ${Math.round(effort.seconds)} s, ${Math.round(effort.loops)} loops.`)
  if (grown) console.log(grown)
  console.log(describeCount(count, { succeeded, all: args.length === 0 }).join('\n'))
  return code || Number(!succeeded)
}

/** @typedef {(tasks: string[], ...args: string[]) => ReturnType<typeof runChild>} Turbo */

/**
 * Runs the journeys of all workspaces, the longest first: turbo itself starts them in any order.
 * @param {Turbo} turbo
 * @returns how the first one ended that failed or was stopped, otherwise the last one
 */
async function runInLanes(turbo) {
  let ended = await turbo(['programs'])
  const all = workspaces(root).filter(folder => hasScript(root, folder, 'journeys'))
  const ordered = new Set([...LONGEST.map(name => `test/${name}`), ...all])
  const waiting = [...ordered].filter(folder => all.includes(folder))
  const lane = async () => {
    for (let folder = waiting.shift(); folder && !ended.signal; folder = waiting.shift()) {
      const one = await turbo(['journeys'], '--only', `--filter=./${folder}`)
      if (one.signal || ended.code === 0) ended = one
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return ended
}

/**
 * Compares the processor time of all tests with the recorded one. The unit is a loop of the same run.
 * @param {{ loops: number }} effort
 * @returns {string | undefined} what to do when it grew
 */
function excessOf({ loops }) {
  const file = 'test/architecture/ratchet.json'
  const { most } = JSON.parse(readFileSync(join(root, file), 'utf8')).processorTime
  if (loops <= most) return undefined
  return `The tests took more than the recorded ${most} loops: do with less, or raise it in ${file} and say why.`
}

/**
 * The environment of programs, in which `node` is Node 24. Compiling takes a third of the CPU time of a start without cache.
 * @param {string} node
 */
function environment(node) {
  const path = [dirname(node), join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter)
  // The folder in which the user typed the command, as npm sets it: programs run in the root.
  const INIT_CWD = process.env.npm_lifecycle_event ? process.env.INIT_CWD : process.cwd()
  // A program says how long its user has waited, also for an installation.
  const GANTRY_LAUNCHED_AT = String(Math.round(performance.timeOrigin))
  const compiled = join(root, '.cache/compiled')
  return { NODE_COMPILE_CACHE: compiled, ...process.env, PATH: path, INIT_CWD, GANTRY_LAUNCHED_AT }
}

try {
  const [script = '', ...args] = process.argv.slice(2)
  const tasks = SUITES.includes(script) ? [script] : TASKS[script]
  const usage = args.some(argument => argument === '--help' || argument === '-h') ? USAGES[script] : undefined
  if (usage) console.log(usage)
  else process.exitCode = await (tasks ? runTasks(tasks, args) : runProgram(programOf(script, args)))
} catch (error) {
  if (!(error instanceof UserError)) throw error
  console.error([error.message, error.advice].filter(Boolean).join('\n'))
  process.exitCode = error.exitCode
}
