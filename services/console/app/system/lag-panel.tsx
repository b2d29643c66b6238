import { Group, Paper, Stack, Table, Text, Title, useComputedColorScheme } from '@mantine/core'
import { LagChart } from './lag-chart.tsx'
import { type Lag, type Sample, type Series, timelineOf, WINDOW_MS } from './samples.ts'
import { strokeOf } from './strokes.ts'

const TEXTS: Readonly<Record<Lag['kind'], readonly [title: string, text: string]>> = {
  PROJECTOR: ['Projectors', 'compute read models from the event log. Lists are behind by their lag.'],
  RELAY: ['Relays', 'publish events on the message bus. Other services learn of changes after their lag.'],
  CONSUMER: ['Consumers', 'handle messages of the bus. Webhooks and reactions of services wait for them.'],
}

interface LagPanelProps {
  kind: Lag['kind']
  samples: readonly Sample[]
  unit: 'events' | 'seconds'
}

/** The lag of the components of a kind: a chart, and the same as a table. */
export function LagPanel({ kind, samples, unit }: LagPanelProps) {
  const timeline = timelineOf(samples, kind, unit)
  const [title, text] = TEXTS[kind]
  return (
    <Paper withBorder p="md">
      <Stack gap="xs">
        <Title order={3} size="h5">
          {title}
        </Title>
        <Text size="sm">
          {title} {text}
        </Text>
        {timeline.series.length === 0 ? (
          <Text size="sm">No service has reported any.</Text>
        ) : (
          <Group gap="lg" align="start">
            <LagChart
              timeline={timeline}
              unit={unit}
              label={`${title}: lag in ${unit} over the last minutes. ${summaryOf(timeline.series, unit)} The table below has the values.`}
            />
            <LagTable title={title} series={timeline.series} unit={unit} />
          </Group>
        )}
      </Stack>
    </Paper>
  )
}

function summaryOf(series: readonly Series[], unit: 'events' | 'seconds'): string {
  const largest = series.toSorted((one, other) => (other.most ?? 0) - (one.most ?? 0))[0]
  if (!largest?.most) return 'There was none.'
  return `The largest was ${valueText(largest.most, unit)} of ${largest.name}.`
}

interface LagTableProps {
  title: string
  series: readonly Series[]
  unit: 'events' | 'seconds'
}

function LagTable({ title, series, unit }: LagTableProps) {
  const scheme = useComputedColorScheme('light')
  return (
    <Table aria-label={`Lag of ${title.toLowerCase()}`} fz="sm" verticalSpacing={3} flex="1 1 22rem" w="auto">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Component</Table.Th>
          <Table.Th ta="right">Events</Table.Th>
          <Table.Th ta="right">Age</Table.Th>
          <Table.Th ta="right">Most in {WINDOW_MS / 60_000} min</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {series.map(({ name, events, seconds, most }, index) => (
          <Table.Tr key={name}>
            <Table.Th scope="row" fw={400}>
              <Swatch {...strokeOf(index, scheme)} /> {name}
            </Table.Th>
            <Table.Td ta="right">{valueText(events, 'events')}</Table.Td>
            <Table.Td ta="right">{valueText(seconds, 'seconds')}</Table.Td>
            <Table.Td ta="right">{valueText(most, unit)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

/** The line of a component in the chart. */
function Swatch({ color, dash }: { color: string; dash: readonly number[] }) {
  return (
    <svg width="20" height="8" aria-hidden="true">
      <line
        x1="0"
        x2="20"
        y1="4"
        y2="4"
        stroke={`var(${color})`}
        strokeWidth="2"
        strokeDasharray={dash.join(' ')}
      />
    </svg>
  )
}

function valueText(value: number | null, unit: 'events' | 'seconds'): string {
  if (value === null) return 'unknown'
  if (unit === 'events') return value.toLocaleString('en')
  if (value < 10) return `${Number(value.toFixed(1))} s`
  return value < 120 ? `${Math.round(value)} s` : `${Math.round(value / 60)} min`
}
