import { Button, Group, Paper, Slider, Stack, Text } from '@mantine/core'
import { exactTime } from '../../parts/time.tsx'

interface TimeSliderProps {
  /** The times of the changes, oldest first. */
  moments: readonly string[]
  /** The chosen time; undefined for the present. */
  at: string | undefined
  onChange: (at: string | undefined) => void
}

/** Moves through the states of a record, one change per step. Its last position is the present. */
export function TimeSlider({ moments, at, onChange }: TimeSliderProps) {
  const last = moments.length
  // Between two changes the record is as the first one left it.
  const position =
    at === undefined
      ? last
      : Math.max(
          0,
          moments.findLastIndex(moment => moment <= at),
        )
  const textOf = (index: number) => {
    const moment = moments[index]
    return moment === undefined ? 'Now' : exactTime(moment)
  }
  const move = (index: number) => onChange(moments[index])
  return (
    <Paper withBorder p="md">
      <Stack gap="xs">
        <Group justify="space-between">
          <Text size="sm" fw={500}>
            {at === undefined ? 'The API as it is now' : `The API as it was on ${exactTime(at)}`}
          </Text>
          <Group gap="xs">
            <Button
              size="compact-sm"
              variant="default"
              disabled={position === 0}
              onClick={() => move(position - 1)}
            >
              Earlier
            </Button>
            <Button
              size="compact-sm"
              variant="default"
              disabled={position === last}
              onClick={() => move(position + 1)}
            >
              Later
            </Button>
            <Button
              size="compact-sm"
              variant="default"
              disabled={at === undefined}
              onClick={() => onChange(undefined)}
            >
              Now
            </Button>
          </Group>
        </Group>
        <Slider
          min={0}
          max={last}
          value={position}
          onChange={move}
          label={null}
          thumbLabel="Time"
          thumbValueText={textOf}
          marks={moments.length <= 60 ? moments.map((_, value) => ({ value })) : []}
        />
      </Stack>
    </Paper>
  )
}
