import { Button, Group, Modal, Progress, Radio, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, client } from '../http/client.ts'
import { CodeBlock } from '../parts/copy.tsx'
import { AnchorLink } from '../parts/links.tsx'
import { secondOf } from '../parts/local-time.ts'
import { LoggedName } from '../parts/logged-name.tsx'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Properties, Property } from '../parts/properties.tsx'
import { isUuid } from '../parts/uuid.ts'
import { type ExportFilters, FORMATS, type Format, fileName } from './export.ts'
import { type ExportState, useExport } from './use-export.ts'

const { timeZone } = Intl.DateTimeFormat().resolvedOptions()

interface ExportDialogProps {
  filters: ExportFilters
  onClose(): void
}

/** Downloads the entries that the filters let through, with their proofs. */
export function ExportDialog({ filters, onClose }: ExportDialogProps) {
  const [format, setFormat] = useState<Format>('ndjson')
  const { state, start, resume, cancel, forget } = useExport(filters)
  const isRunning = state.kind === 'running'
  const choose = (next: Format) => {
    setFormat(next)
    forget()
  }
  const total = useQuery({
    queryKey: ['audit', 'total', filters],
    queryFn: ({ signal }) => answer(client.listAuditLog({ ...filters, size: 1 }, { signal })),
  }).data?.totalElements
  return (
    <Modal
      opened
      onClose={onClose}
      title="Export the audit log"
      closeOnClickOutside={!isRunning}
      closeOnEscape={!isRunning}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        <Content filters={filters} format={format} {...(total !== undefined && { total })} />
        <Radio.Group label="Format" value={format} onChange={value => choose(value as Format)}>
          <Stack gap="xs" mt={6}>
            {Object.entries(FORMATS).map(([value, { label, use }]) => (
              <Radio key={value} value={value} label={label} description={use} disabled={isRunning} />
            ))}
          </Stack>
        </Radio.Group>
        {format !== 'table' && <Verification file={fileName(format, filters)} />}
        <ExportProgress state={state} total={total} />
        {state.kind === 'failed' && (
          <ProblemPanel what="The export is incomplete" error={state.error} onRetry={resume} />
        )}
        <Group justify="end">
          <Button variant="default" onClick={isRunning ? cancel : onClose}>
            {isRunning ? 'Cancel the export' : 'Close'}
          </Button>
          {!isRunning && (
            <Button onClick={() => start(format)}>
              {state.kind === 'none' ? 'Start the export' : 'Export again'}
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  )
}

/** How the file is verified. */
const Verification = ({ file }: { file: string }) => (
  <>
    <Text size="sm">
      The file has the hash chain and signatures. This command proves without the service that no record was
      changed. The page{' '}
      <AnchorLink to="/audit/proofs" size="sm" underline="always">
        Proofs
      </AnchorLink>{' '}
      has more on it.
    </Text>
    <CodeBlock
      label="Command that verifies the export"
      text={`npm run audit -- verify ${file}`}
      maxHeight={80}
      wrap
    />
  </>
)

const NAMES = { text: 'Search', user: 'User', action: 'Action', resource: 'Resource' } as const

/** What the file will have: how many entries, of which range, by which filters. */
function Content({ filters, format, total }: { filters: ExportFilters; format: Format; total?: number }) {
  const { from, to } = filters
  const given = Object.entries(NAMES).flatMap(([key, name]) => {
    const value = filters[key as keyof typeof NAMES]
    return value ? [{ name, value }] : []
  })
  const isPart = from !== undefined || to !== undefined || given.length > 0
  const count = total === undefined ? 'the' : total.toLocaleString('en')
  return (
    <Stack gap={6}>
      <Text size="sm">
        The file will have {!isPart && total !== 1 && 'all '}
        {count} {total === 1 ? 'entry' : 'entries'}
        {isPart && ' that the filters of the page let through'}
        {isPart && format !== 'table' && ', and the hashes of the others'}.
      </Text>
      <Properties>
        <Property name="Range">
          {from ? secondOf(from) : 'First entry'} to {to ? secondOf(to) : 'now'} ({timeZone})
        </Property>
        {given.map(({ name, value }) => (
          <Property key={name} name={name}>
            {isUuid(value) ? <LoggedName id={value} /> : value}
          </Property>
        ))}
        <Property name="File">{fileName(format, filters)}</Property>
      </Properties>
    </Stack>
  )
}

const LABELS = {
  running: 'Receiving',
  complete: 'Complete. The file was saved',
  cancelled: 'Cancelled. Nothing was saved',
  failed: 'Interrupted. The part that is proven is kept, and the export continues after it',
}

function ExportProgress({ state, total }: { state: ExportState; total: number | undefined }) {
  if (state.kind === 'none') return null
  const { kind, so } = state
  // The file also has lines that are no records. It is complete only with its signed end.
  const share = Math.min(99, (100 * so.lines) / Math.max(1, total ?? so.lines * 2))
  const percent = kind === 'complete' ? 100 : Math.floor(share)
  return (
    <Stack gap={6}>
      <Progress.Root size="lg">
        <Progress.Section value={percent} aria-label="Progress of the export" />
      </Progress.Root>
      <Text size="sm" role="status">
        {LABELS[kind]}: {so.lines.toLocaleString('en')} lines, {sizeText(so.blob.size)}
      </Text>
    </Stack>
  )
}

const sizeText = (bytes: number) =>
  bytes < 1_000_000
    ? `${Math.ceil(bytes / 1_000)} kB`
    : `${(bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 2 : 0)} MB`
