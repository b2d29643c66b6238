import { Alert, Button, Group, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schemas } from '../../http/schemas.ts'
import { useAllowed } from '../../http/session.ts'
import { useEnvironmentNames } from '../../parts/environments.ts'
import { By } from '../../parts/history-list.tsx'
import { AnchorLink } from '../../parts/links.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { Empty } from '../../parts/states.tsx'
import { StatusBadge } from '../../parts/statuses.tsx'
import { Time } from '../../parts/time.tsx'
import { DeployForm } from './deploy-form.tsx'
import { DeploymentDialog, type Doing } from './deployment-dialog.tsx'
import { type Deployment, deploymentsOf, starterOf } from './deployments.ts'
import { apiQuery, failureQuery } from './reads.ts'
import { useHistory } from './use-history.ts'

/** Jobs that others start are seen after this time. */
const POLL_MS = 5_000

/** The environments of an API with the running jobs, which are followed until they end. */
export function DeploymentsTab({ api }: { api: Schemas['Api'] }) {
  const [chosen, choose] = useState<string>()
  const [doing, setDoing] = useState<Doing>()
  const allowed = useAllowed('API_WRITE')
  // Reads the API of the page in shorter intervals, also without a running job.
  useQuery({
    ...apiQuery(api.id),
    refetchInterval: api.runningJobs?.length ? 1_000 : POLL_MS,
  })
  const history = useHistory(api)
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={2} size="h4">
          Deployments
        </Title>
        <Text size="sm" role="status">
          {runningText(api.runningJobs)}
        </Text>
      </Group>
      {api.deploymentStatus === 'DEPLOYMENT_FAILED' && <Failure api={api} history={history} />}
      {allowed && (
        <DeployForm
          environment={chosen}
          onChange={choose}
          onSubmit={environment => setDoing({ what: 'deploy', environment })}
        />
      )}
      {deploymentsOf(api).length === 0 ? (
        <Empty title="Not deployed">
          {allowed
            ? 'Enter an environment to deploy the API to.'
            : 'This API is not deployed to any environment.'}
        </Empty>
      ) : (
        <DeploymentTable api={api} history={history} allowed={allowed} onDo={setDoing} />
      )}
      {doing && (
        <DeploymentDialog
          api={api}
          doing={doing}
          onDone={() => choose(undefined)}
          onClose={() => setDoing(undefined)}
        />
      )}
    </Stack>
  )
}

/** What is running; empty when nothing is. */
function runningText(jobs: Schemas['Api']['runningJobs'] = []) {
  const [first] = jobs
  if (!first) return ''
  if (jobs.length > 1) return `${jobs.length} deployments are running`
  return first.type === 'DEPLOY' ? 'One deployment is running' : 'One undeployment is running'
}

type History = ReturnType<typeof useHistory>

/** The failure of the last job: when, whose job it was, in which environment, and the agent's reason. */
function Failure({ api, history }: { api: Schemas['Api']; history: History }) {
  const failed = history.find(({ operation }) => operation === 'API_DEPLOYMENT_FAILED')
  const mayRead = useAllowed('AUDIT_LOG_READ')
  const { data: event } = useQuery({
    ...failureQuery(api.id, failed),
    enabled: mayRead && failed !== undefined,
  })
  const names = useEnvironmentNames()
  return (
    <Alert color="red" title="The last deployment has failed">
      {failed && (
        <>
          {event && (
            <>
              {event.type === 'DEPLOY' ? 'The deployment to ' : 'The undeployment from '}
              <b>{names.get(event.environment) ?? event.environment}</b>.{' '}
            </>
          )}
          It failed <Time at={failed.timestamp} />
          <By who={starterOf(failed.timestamp, history)} prefix=" and was started by" />.{' '}
        </>
      )}
      {event?.message
        ? `The deployment agent states: ${event.message}. `
        : 'Its cause is known to the deployment agent. '}
      Deploy it again when the cause is mended.
    </Alert>
  )
}

interface DeploymentTableProps {
  api: Schemas['Api']
  history: History
  allowed: boolean
  onDo: (doing: Doing) => void
}

function DeploymentTable({ api, history, allowed, onDo }: DeploymentTableProps) {
  const names = useEnvironmentNames()
  return (
    <Table verticalSpacing="xs" aria-label="Deployments">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Environment</Table.Th>
          <Table.Th visibleFrom="sm">State</Table.Th>
          <Table.Th visibleFrom="sm">Since</Table.Th>
          <Table.Th visibleFrom="sm">Started by</Table.Th>
          {allowed && <Table.Th ta="end">Actions</Table.Th>}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {deploymentsOf(api, [...names.keys()]).map(({ environment, environmentName, deployedAt, job }) => {
          const since = job?.startedAt ?? deployedAt ?? api.updatedAt
          const starter = starterOf(since, history)
          return (
            <Table.Tr key={environment}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                <AnchorLink to="/apis" search={{ environment }} title="APIs in this environment" inherit>
                  {environmentName ?? environment}
                </AnchorLink>
                <Text size="xs" component="div" mt={4} hiddenFrom="sm">
                  <State job={job} />
                  <br />
                  <Time at={since} />
                </Text>
              </Table.Td>
              <Table.Td visibleFrom="sm">
                <State job={job} />
              </Table.Td>
              <Table.Td visibleFrom="sm">
                <Time at={since} />
              </Table.Td>
              <Table.Td visibleFrom="sm">{starter ? <By who={starter} prefix="" /> : '–'}</Table.Td>
              {allowed && (
                <Table.Td ta="end">
                  <Actions environment={environment} name={environmentName} running={job?.type} onDo={onDo} />
                </Table.Td>
              )}
            </Table.Tr>
          )
        })}
      </Table.Tbody>
    </Table>
  )
}

function State({ job }: Pick<Deployment, 'job'>) {
  if (!job) return <StatusBadge status="DEPLOYED" />
  return <StateBadge color="blue">{job.type === 'DEPLOY' ? 'Deploying' : 'Undeploying'}</StateBadge>
}

interface ActionsProps {
  environment: string
  /** The name of the environment, if it has one. */
  name: string | null | undefined
  /** The kind of the running job, if there is one. */
  running: NonNullable<Deployment['job']>['type'] | undefined
  onDo: (doing: Doing) => void
}

function Actions({ environment, name: given, running, onDo }: ActionsProps) {
  const name = given ?? environment
  const button = { size: 'compact-sm', variant: 'default' } as const
  const mayName = useAllowed('ENVIRONMENT_WRITE')
  if (running) {
    const what = running === 'DEPLOY' ? 'Cancel deployment' : 'Cancel undeployment'
    return (
      <Button
        {...button}
        aria-label={`${what}: ${name}`}
        onClick={() => onDo({ what: 'cancel', environment })}
      >
        {what}
      </Button>
    )
  }
  return (
    <Group gap={6} justify="end">
      <Button
        {...button}
        aria-label={`Deploy again to ${name}`}
        onClick={() => onDo({ what: 'deploy', environment })}
      >
        Deploy again
      </Button>
      <Button
        {...button}
        c="red"
        aria-label={`Undeploy from ${name}`}
        onClick={() => onDo({ what: 'undeploy', environment })}
      >
        Undeploy
      </Button>
      {mayName && !given && (
        <Button
          {...button}
          aria-label={`Give a name to ${environment}`}
          onClick={() => onDo({ what: 'name', environment })}
        >
          Give a name
        </Button>
      )}
    </Group>
  )
}
