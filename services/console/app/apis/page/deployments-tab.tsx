import { Alert, Button, Code, Group, ScrollArea, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, client } from '../../http/client.ts'
import type { Schemas } from '../../http/schemas.ts'
import { useAllowed } from '../../http/session.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { EnvironmentDialog } from '../../parts/environment-dialog.tsx'
import { useEnvironmentNames } from '../../parts/environments.ts'
import { By } from '../../parts/history-list.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { Empty } from '../../parts/states.tsx'
import { StatusBadge } from '../../parts/statuses.tsx'
import { Time } from '../../parts/time.tsx'
import { DeployForm, useDeploy } from './deploy-form.tsx'
import { type Deployment, deploymentsOf, starterOf } from './deployments.ts'
import { apiQuery, readAgain } from './reads.ts'
import { useHistory } from './use-history.ts'

/** Jobs that others start are seen after this time. */
const POLL_MS = 5_000

type Doing = { what: 'undeploy' | 'cancel' | 'name'; environment: string; name: string }

/** The environments of an API with the running jobs, which are followed until they end. */
export function DeploymentsTab({ api }: { api: Schemas['Api'] }) {
  const [doing, setDoing] = useState<Doing>()
  const allowed = useAllowed('API_WRITE')
  // Reads the API of the page in shorter intervals, also without a running job.
  useQuery({
    ...apiQuery(api.id),
    refetchInterval: api.runningJobs?.length ? 1_000 : POLL_MS,
  })
  const history = useHistory(api)
  const running = api.runningJobs?.length ?? 0
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={2} size="h4">
          Deployments
        </Title>
        <Text size="sm" role="status">
          {running === 0
            ? 'No job is running'
            : running === 1
              ? 'One job is running'
              : `${running} jobs are running`}
        </Text>
      </Group>
      {api.deploymentStatus === 'DEPLOYMENT_FAILED' && <Failure history={history} />}
      {allowed && <DeployForm api={api} />}
      {deploymentsOf(api).length === 0 ? (
        <Empty title="Not deployed">
          {allowed
            ? 'Enter an environment to deploy the API to.'
            : 'This API is not deployed to any environment.'}
        </Empty>
      ) : (
        <DeploymentTable api={api} history={history} allowed={allowed} onDo={setDoing} />
      )}
      {doing && <Confirmation api={api.id} doing={doing} onClose={() => setDoing(undefined)} />}
    </Stack>
  )
}

type History = ReturnType<typeof useHistory>

/** The failure of the last job: when, and whose job it was. */
function Failure({ history }: { history: History }) {
  const failed = history.find(({ operation }) => operation === 'API_DEPLOYMENT_FAILED')
  return (
    <Alert color="red" title="The last deployment has failed">
      {failed && (
        <>
          It failed <Time at={failed.timestamp} />
          <By who={starterOf(failed.timestamp, history)} prefix=" and was started by" />.{' '}
        </>
      )}
      Its cause is known to the deployment agent, and is in the event API_DEPLOYMENT_FAILED. Deploy it again
      when the cause is mended.
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
  const deploy = useDeploy(api.id)
  const names = useEnvironmentNames()
  return (
    <>
      {deploy.isError && <ProblemPanel what="The deployment is not started" error={deploy.error} />}
      <ScrollArea type="auto">
        <Table miw={640} verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Environment</Table.Th>
              <Table.Th>State</Table.Th>
              <Table.Th>Since</Table.Th>
              <Table.Th>Started by</Table.Th>
              {allowed && <Table.Th>Actions</Table.Th>}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {deploymentsOf(api, [...names.keys()]).map(
              ({ environment, environmentName, deployedAt, job }) => {
                const since = job?.startedAt ?? deployedAt ?? api.updatedAt
                return (
                  <Table.Tr key={environment}>
                    <Table.Td>{environmentName ?? <Code>{environment}</Code>}</Table.Td>
                    <Table.Td>
                      <State job={job} />
                    </Table.Td>
                    <Table.Td>
                      <Time at={since} />
                    </Table.Td>
                    <Table.Td>
                      <By who={starterOf(since, history)} prefix="" />
                    </Table.Td>
                    {allowed && (
                      <Table.Td>
                        <Actions
                          environment={environment}
                          name={environmentName ?? environment}
                          running={job !== undefined}
                          onDeploy={() => deploy.mutate(environment)}
                          onDo={onDo}
                        />
                      </Table.Td>
                    )}
                  </Table.Tr>
                )
              },
            )}
          </Table.Tbody>
        </Table>
      </ScrollArea>
    </>
  )
}

function State({ job }: Pick<Deployment, 'job'>) {
  if (!job) return <StatusBadge status="DEPLOYED" />
  return <StateBadge color="blue">{job.type === 'DEPLOY' ? 'Deploying' : 'Undeploying'}</StateBadge>
}

interface ActionsProps {
  environment: string
  /** The name of the environment, or its id. */
  name: string
  running: boolean
  onDeploy: () => void
  onDo: (doing: Doing) => void
}

function Actions({ environment, name, running, onDeploy, onDo }: ActionsProps) {
  const button = { size: 'compact-sm', variant: 'default' } as const
  const mayName = useAllowed('ENVIRONMENT_WRITE')
  if (running)
    return (
      <Button
        {...button}
        aria-label={`Cancel job of ${name}`}
        onClick={() => onDo({ what: 'cancel', environment, name })}
      >
        Cancel job
      </Button>
    )
  return (
    <Group gap="xs">
      <Button {...button} aria-label={`Deploy again to ${name}`} onClick={onDeploy}>
        Deploy again
      </Button>
      <Button
        {...button}
        aria-label={`Undeploy from ${name}`}
        onClick={() => onDo({ what: 'undeploy', environment, name })}
      >
        Undeploy
      </Button>
      {mayName && (
        <Button
          {...button}
          aria-label={`Name ${name}`}
          onClick={() => onDo({ what: 'name', environment, name })}
        >
          Name
        </Button>
      )}
    </Group>
  )
}

function Confirmation({ api, doing, onClose }: { api: string; doing: Doing; onClose: () => void }) {
  const queries = useQueryClient()
  const { what, environment, name } = doing
  if (what === 'name') return <EnvironmentDialog id={environment} onClose={onClose} />
  if (what === 'undeploy')
    return (
      <ConfirmDialog
        title="Undeploy the API?"
        action="Undeploy"
        failed="The API is not undeployed"
        color="red"
        onConfirm={async () => {
          await answer(client.undeployApi({ environment_id: environment, api_id: api }))
          await readAgain(queries, api)
        }}
        onClose={onClose}
      >
        <Text size="sm">
          A job removes it from the environment <Code>{name}</Code>.
        </Text>
      </ConfirmDialog>
    )
  return (
    <ConfirmDialog
      title="Cancel the job?"
      action="Cancel job"
      failed="The job is not cancelled"
      color="red"
      onConfirm={async () => {
        await answer(client.cancelDeployment({ environment_id: environment, api_id: api }))
        await readAgain(queries, api)
      }}
      onClose={onClose}
    >
      <Text size="sm">
        The job of the environment <Code>{name}</Code> ends as failed, so that another can start. The
        deployment agent is not stopped and may still change the environment.
      </Text>
    </ConfirmDialog>
  )
}
