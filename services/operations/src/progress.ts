import { Presets, SingleBar } from 'cli-progress'

export interface Progress {
  /** @param done the part that is done, from 0 to 1 @param count items since the start */
  show(done: number, count: number): void
  /** Removes the bar from a terminal. */
  end(): void
}

const STEPS = 1_000
/** Pause between the lines on something other than a terminal, e.g. a log. */
const LINE_MS = 5_000

/**
 * A bar on stderr with count, rate and time left; plain lines where stderr is no terminal.
 * @param unit what is counted, e.g. events
 */
export function progressBar(unit: string): Progress {
  const onTerminal = process.stderr.isTTY === true
  const startedAt = performance.now()
  const bar = new SingleBar(
    {
      stream: process.stderr,
      format: `${onTerminal ? '{bar} ' : ''}{percentage} %  {count} ${unit}  {rate}/s  {left} left`,
      clearOnComplete: true,
      noTTYOutput: true,
      notTTYSchedule: LINE_MS,
      hideCursor: true,
      fps: 5,
      // The commands handle signals themselves.
      gracefulExit: false,
    },
    Presets.shades_classic,
  )
  let firstDone: number | undefined
  return {
    show(done, count) {
      if (firstDone === undefined) bar.start(STEPS, 0, { count: 0, rate: 0, left: '?' })
      firstDone ??= done
      const seconds = (performance.now() - startedAt) / 1_000
      const speed = (done - firstDone) / seconds
      bar.update(Math.floor(Math.min(1, Math.max(0, done)) * STEPS), {
        count: count.toLocaleString('en'),
        rate: Math.round(count / Math.max(seconds, 0.001)).toLocaleString('en'),
        left: speed > 0 ? duration((1 - done) / speed) : '?',
      })
    },
    end: () => bar.stop(),
  }
}

function duration(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds))
  if (whole < 60) return `${whole} s`
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`
}
