import { Button, Group, Progress, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { RunningGuard } from '../parts/leave-guards.tsx'
import { BulkResults } from './bulk-results.tsx'
import type { BulkRun, BulkState } from './bulk-run.ts'

interface BulkProgressProps {
  run: BulkRun
  onClose: (allDone: boolean) => void
}

/** Runs a bulk change and shows how far it is. It ends when the page is left. */
export function BulkProgress({ run, onClose }: BulkProgressProps) {
  const state = useSyncExternalStore(run.subscribe, run.state)
  const client = useQueryClient()
  useEffect(() => {
    run.run()
    return run.cancel
  }, [run])
  const { items, done, failed, running } = state
  const close = () => {
    client.invalidateQueries({ queryKey: ['apis'] })
    client.invalidateQueries({ queryKey: ['api'] })
    onClose(done === items.length)
  }
  return (
    <Stack>
      <RunningGuard running={running} />
      <Progress.Root>
        <Progress.Section
          value={((done + failed) / items.length) * 100}
          aria-label="Finished APIs"
          color={failed > 0 ? 'orange' : undefined}
        />
      </Progress.Root>
      <Text size="sm" role="status">
        {textOf(state)}
      </Text>
      <BulkResults items={items} />
      <Group justify="flex-end">
        {running ? (
          <Button variant="default" onClick={run.cancel}>
            Cancel
          </Button>
        ) : (
          <>
            {done < items.length && (
              <Button variant="default" onClick={() => run.run()}>
                {state.cancelled ? 'Continue' : `Try ${failed.toLocaleString('en')} again`}
              </Button>
            )}
            <Button onClick={close} data-autofocus>
              Close
            </Button>
          </>
        )}
      </Group>
    </Stack>
  )
}

function textOf({ items, done, failed, cancelled }: BulkState): string {
  const number = (value: number) => value.toLocaleString('en')
  return [
    `${number(done)} of ${number(items.length)} done`,
    failed > 0 && `${number(failed)} failed`,
    cancelled && 'cancelled',
  ]
    .filter(Boolean)
    .join(', ')
}
