import { spawn } from 'node:child_process'

/**
 * Reads `+ pid` and `- pid`. Its input closes when the process that writes it ends, however it ends; then the processes
 * that are left, each with its group, are killed.
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

/** @type {import('node:stream').Writable | undefined} */
let keeper

/**
 * Has a child killed when this process ends before it, even by SIGKILL. A child that leads a process group is killed
 * together with the group.
 * @template {import('node:child_process').ChildProcess} Child
 * @param {Child} child just started
 * @returns {Child} the same
 */
export function endsWithParent(child) {
  const { pid } = child
  if (pid === undefined) return child
  if (process.platform === 'win32') {
    const kill = () => child.kill('SIGKILL')
    process.once('exit', kill)
    child.once('exit', () => process.off('exit', kill))
    return child
  }
  keeper ??= startKeeper()
  keeper.write(`+ ${pid}\n`)
  child.once('exit', () => keeper?.write(`- ${pid}\n`))
  return child
}

/** A shell, which costs a millisecond; a session of its own keeps it from the signals of terminals and groups. */
function startKeeper() {
  const shell = spawn('sh', ['-c', KEEPER], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  const forget = () => {
    keeper = undefined
  }
  shell.once('error', forget)
  shell.stdin.once('error', forget)
  shell.unref()
  const input = /** @type {import('node:net').Socket} */ (shell.stdin)
  input.unref()
  return input
}
