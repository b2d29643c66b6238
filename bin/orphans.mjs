import { spawn } from 'node:child_process'

/**
 * A shell script that reads lines `+ pid` and `- pid`. Its input closes when the writing process ends, for whatever reason.
 * Then it kills the remaining processes, each with its process group.
 */
const KEEPER = `
pids=' '
while read -r sign pid; do
  case $sign in
    +) pids="$pids$pid " ;;
    -) pids="\${pids%% $pid *} \${pids#* $pid }" ;;
  esac
done
for pid in $pids; do kill -s KILL -- "-$pid" || kill -s KILL "$pid"; done`

/** @type {import('node:net').Socket | undefined} */
let keeper

/**
 * Makes sure that a child is killed when this process ends before it, even by SIGKILL. If the child leads a process group,
 * the whole group is killed.
 * @template {import('node:child_process').ChildProcess} Child
 * @param {Child} child a child that was just started
 * @returns {Child} the same child
 */
export function endsWithParent(child) {
  if (child.pid === undefined) return child
  if (process.platform === 'win32') {
    const kill = () => child.kill('SIGKILL')
    process.once('exit', kill)
    child.once('exit', () => process.off('exit', kill))
    return child
  }
  keeper ??= startKeeper()
  keeper.write(`+ ${child.pid}\n`)
  child.once('exit', () => keeper?.write(`- ${child.pid}\n`))
  return child
}

/** Starts the shell. Its own session protects it from the signals of terminals and process groups. */
function startKeeper() {
  const shell = spawn('sh', ['-c', KEEPER], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  const forget = () => {
    keeper = undefined
  }
  shell.once('error', forget).unref()
  const input = /** @type {import('node:net').Socket} */ (shell.stdin)
  return input.once('error', forget).unref()
}
