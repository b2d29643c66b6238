import 'uplot/dist/uPlot.min.css'
import { Box, useComputedColorScheme } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import { type Timeline, WINDOW_MS } from './samples.ts'
import { strokeOf } from './strokes.ts'

const HEIGHT = 200
/** The top of the scale at least, so that small values do not look large. */
const LEAST_TOP = { events: 10, seconds: 1 }

interface LagChartProps {
  timeline: Timeline
  unit: 'events' | 'seconds'
  /** The text alternative. */
  label: string
}

/** Lines of the lag over the last minutes. A table beside it has the same content as text. */
export function LagChart({ timeline, unit, label }: LagChartProps) {
  const { ref, width } = useElementSize<HTMLDivElement>()
  const host = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(undefined)
  const scheme = useComputedColorScheme('light')
  const names = timeline.series.map(({ name }) => name).join(' ')
  // The chart is made again when its lines, its colours or its unit change. Then the effect below gives it its data.
  useEffect(() => {
    if (!host.current) return
    const options = optionsOf(names.split(' '), unit, scheme, host.current)
    const made = new uPlot(options, [[]], host.current)
    plot.current = made
    return () => made.destroy()
  }, [names, unit, scheme])
  useEffect(() => {
    if (width > 0) plot.current?.setSize({ width, height: HEIGHT })
    plot.current?.setData([timeline.times, ...timeline.series.map(({ values }) => values)])
  })
  return (
    <Box ref={ref} h={HEIGHT} flex="2 1 20rem" miw={0} role="img" aria-label={label}>
      <div ref={host} aria-hidden />
    </Box>
  )
}

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' })
const numbers = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** From the first reading, but at least one minute and at most the window, to now; in seconds since 1970. */
function timeRange(first: number | null): [number, number] {
  const now = Date.now() / 1_000
  return [Math.max(now - WINDOW_MS / 1_000, Math.min(first ?? now, now - 60)), now]
}

function optionsOf(
  names: readonly string[],
  unit: 'events' | 'seconds',
  scheme: 'light' | 'dark',
  host: HTMLElement,
): uPlot.Options {
  const styles = getComputedStyle(host)
  const text = styles.getPropertyValue('--mantine-color-text')
  const grid = { stroke: styles.getPropertyValue('--mantine-color-default-border'), width: 1 }
  return {
    width: 300,
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: false, y: false } },
    scales: {
      x: { time: true, range: (_plot, first) => timeRange(first) },
      y: { range: (_plot, _least, most) => [0, Math.max(LEAST_TOP[unit], (most ?? 0) * 1.1)] },
    },
    axes: [
      {
        stroke: text,
        grid,
        ticks: grid,
        space: 80,
        values: (_plot, times) => times.map(time => clock.format(time * 1_000)),
      },
      {
        stroke: text,
        grid,
        ticks: grid,
        size: 46,
        values: (_plot, values) => values.map(value => numbers.format(value)),
      },
    ],
    series: [
      {},
      ...names.map((name, index): uPlot.Series => {
        const { color, dash } = strokeOf(index, scheme)
        return {
          label: name,
          stroke: styles.getPropertyValue(color),
          dash: [...dash],
          width: 2,
          points: { size: 5 },
        }
      }),
    ],
  }
}
