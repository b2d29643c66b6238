import { AnchorLink } from '../parts/links.tsx'
import '../more-styles.ts'
import { Alert, Anchor, Button, Code, Group, Paper, Stack, Table, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { INTERFACE_PATH } from '../http/place.ts'
import { CodeBlock, Copied } from '../parts/copy.tsx'
import { EmptyPage, isBeyondEnd } from '../parts/empty-page.tsx'
import { timeWithMilliseconds } from '../parts/local-time.ts'
import { Pages } from '../parts/pagination.tsx'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Properties, Property } from '../parts/properties.tsx'
import { save } from '../parts/save.ts'
import { StateBadge } from '../parts/state-badge.tsx'
import { Empty, Loading } from '../parts/states.tsx'
import { type DayRoot, type Proofs, proofsPage } from './proofs.ts'
import { readProofsSearch } from './search.ts'
import { AuditTabs } from './tabs.tsx'

const route = getRouteApi('/inside/audit/proofs')

/** What proves the audit log: the signed roots of days, and the head of the chain. */
export function ProofsPage() {
  // The router also passes on what the route has left out.
  const { page = 1 } = readProofsSearch({ ...route.useSearch() })
  const navigate = route.useNavigate()
  const newest = useQuery(proofsPage(1))
  const shown = useQuery({ ...proofsPage(page), placeholderData: keepPreviousData })
  const failed = [newest, shown].find(({ isError }) => isError)
  return (
    <Stack gap="md">
      <Title order={1} size="h2">
        Audit log
      </Title>
      <AuditTabs />
      {failed && (
        <ProblemPanel
          what="The proofs cannot be read"
          error={failed.error}
          onRetry={() => failed.refetch()}
        />
      )}
      {newest.isPending && <Loading what="the proofs" />}
      {newest.data && <Status proofs={newest.data} />}
      {newest.data?.head && <Head head={newest.data.head} />}
      {newest.data?.head && <Verification head={newest.data.head} />}
      {shown.data && (
        <>
          <Title order={2} size="h4">
            Signed days
          </Title>
          {isBeyondEnd(shown.data) ? (
            <EmptyPage onFirst={() => navigate({ search: {} })} />
          ) : (
            <Roots roots={shown.data.content} />
          )}
          <Pages
            what="signed days"
            page={shown.data}
            onPage={next => navigate({ search: { page: next > 1 ? next : undefined } })}
          />
        </>
      )}
    </Stack>
  )
}

/** How many records are proven by what, as far as the newest days tell. */
function Status({ proofs: { content, head, problem, last } }: { proofs: Proofs }) {
  const [newest] = content
  if (head === null)
    return (
      <Alert color="red" title="The audit log is not valid" role="alert">
        Nothing is signed: {problem}.
      </Alert>
    )
  const broken = content.filter(({ valid }) => !valid)
  if (broken.length > 0)
    return (
      <Alert color="red" title="The chain is broken" role="alert">
        The audit log does not lead to the signed hash of {broken.map(({ day }) => day).join(', ')}: records
        were changed, removed or added, or a signature is not valid. Verify the latest export, and compare it
        with earlier ones.
      </Alert>
    )
  const covered = newest?.after.number ?? 0
  return (
    <Alert color="teal" title="The chain is intact" role="note">
      {newest
        ? `The signed roots of days cover the records 1 to ${covered.toLocaleString('en')}, through ${newest.day}.`
        : 'No day is signed yet: the first root is signed after the first UTC midnight.'}{' '}
      {head.number > covered
        ? `The signed head covers ${newest ? 'the' : 'all'} ${(head.number - covered).toLocaleString('en')} records ${newest ? 'after them ' : ''}until their day is signed.`
        : 'There are no records after them.'}
      {!last && ` The days before ${content.at(-1)?.day} are checked when their page below is shown.`}
    </Alert>
  )
}

function Head({ head }: { head: NonNullable<Proofs['head']> }) {
  const keep = () => {
    const text = JSON.stringify({ head }, null, 2)
    save(new Blob([text], { type: 'application/json' }), `audit-head-${head.number}.json`)
  }
  return (
    <Paper withBorder p="md">
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4">
            Head of the chain
          </Title>
          <Button size="xs" variant="default" onClick={keep}>
            Save the head
          </Button>
        </Group>
        <Text size="sm">
          A copy that is kept outside of the installation proves later whether a record before it was changed
          or removed. The public keys are at{' '}
          <Anchor href={`${INTERFACE_PATH}/.well-known/audit-keys.json`} size="sm" underline="always">
            /.well-known/audit-keys.json
          </Anchor>
          .
        </Text>
        <Properties>
          <Property name="Last record">
            Record {head.number.toLocaleString('en')}, position {head.position || 'none'}
          </Property>
          <Property name="Chain hash">
            <Copied value={head.chainHash} what="chain hash" />
          </Property>
          <Property name="Signed">{timeWithMilliseconds(head.signedAt)}</Property>
          <Property name="Key">
            <Copied value={head.kid} what="key id" />
          </Property>
          <Property name="Signature">
            <Copied value={head.signature} what="signature" />
          </Property>
        </Properties>
      </Stack>
    </Paper>
  )
}

/** The commands that check an export without trust in the service. */
function Verification({ head }: { head: NonNullable<Proofs['head']> }) {
  const keys = new URL(`${INTERFACE_PATH}/.well-known/audit-keys.json`, location.origin)
  const text = [
    `curl -o audit-keys.json ${keys}`,
    'npm run audit -- export audit.ndjson',
    `npm run audit -- verify audit.ndjson --keys audit-keys.json --against audit-head-${head.number}.json`,
  ].join('\n')
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        Verify the audit log
      </Title>
      <Text size="sm">
        In a checkout of Gantry; in a container and in the installed package the command is{' '}
        <Code>gantry audit</Code>. The export needs <Code>BASE_URL</Code> and <Code>GANTRY_TOKEN</Code>, or
        the page Entries makes it. The verification needs neither, so that it also works on another machine.
        The head is the file of the button “Save the head”: keep the keys and an older head elsewhere, because
        a forger could replace those of the service.
      </Text>
      <CodeBlock label="Commands that verify the audit log" text={text} maxHeight={200} wrap />
    </Stack>
  )
}

function Roots({ roots }: { roots: readonly DayRoot[] }) {
  if (roots.length === 0)
    return (
      <Empty title="No signed days yet">The root of a UTC day is signed some seconds after its end.</Empty>
    )
  return (
    <Table.ScrollContainer minWidth={640} type="native">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Day</Table.Th>
            <Table.Th>Records</Table.Th>
            <Table.Th>Numbers</Table.Th>
            <Table.Th>Signed</Table.Th>
            <Table.Th>State</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {roots.map(root => (
            <Root key={root.day} root={root} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function Root({ root: { day, count, first, last, signedAt, valid } }: { root: DayRoot }) {
  const next = new Date(Date.parse(day) + 86_400_000).toISOString()
  return (
    <Table.Tr>
      <Table.Td>
        <AnchorLink to="/audit" search={{ from: `${day}T00:00:00.000Z`, to: next }} size="sm">
          {day}
        </AnchorLink>
      </Table.Td>
      <Table.Td>{count.toLocaleString('en')}</Table.Td>
      <Table.Td>
        {first && last
          ? `${first.number.toLocaleString('en')} to ${last.number.toLocaleString('en')}`
          : 'none'}
      </Table.Td>
      <Table.Td>{timeWithMilliseconds(signedAt)}</Table.Td>
      <Table.Td>
        <StateBadge color={valid ? 'teal' : 'red'}>{valid ? 'Valid' : 'Broken'}</StateBadge>
      </Table.Td>
    </Table.Tr>
  )
}
