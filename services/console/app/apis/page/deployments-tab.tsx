import { Alert, Button, Code, Group, Loader, ScrollArea, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, client } from '../../http/client.ts'
import type { Schemas } from '../../http/schemas.ts'
import { useAllowed } from '../../http/session.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Empty } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import { DeployForm, useDeploy } from './deploy-form.tsx'
import { type Deployment, deploymentsOf } from './deployments.ts'
import { apiQuery, readAgain } from './reads.ts'

/** Jobs that others start are seen after this time. */
const POLL_MS = 5_000

type Doing = { what: 'undeploy' | 'cancel'; environment: string }

/** The environments of an API with the running jobs, which are followed until they end. */
export function DeploymentsTab({ api }: { api: Schemas['Api'] }) {
  const [doing, setDoing] = useState<Doing>()
  const allowed = useAllowed('API_WRITE')
  // Reads the API of the page in shorter intervals, also without a running job.
  useQuery({
    ...apiQuery(api.id),
    refetchInterval: api.runningJobs?.length ? 1_000 : POLL_MS,
  })
  const deployments = deploymentsOf(api)
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
      {api.deploymentStatus === 'DEPLOYMENT_FAILED' && (
        <Alert color="red" title="The last deployment has failed">
          The history of the API says when. Its cause is known to the deployment agent, and is in the event
          API_DEPLOYMENT_FAILED.
        </Alert>
      )}
      {allowed && <DeployForm api={api} />}
      {deployments.length === 0 ? (
        <Empty title="Not deployed">
          {allowed
            ? 'Enter an environment to deploy the API to.'
            : 'This API is not deployed to any environment.'}
        </Empty>
      ) : (
        <DeploymentTable api={api} deployments={deployments} allowed={allowed} onDo={setDoing} />
      )}
      {doing && <Confirmation api={api.id} doing={doing} onClose={() => setDoing(undefined)} />}
    </Stack>
  )
}

interface DeploymentTableProps {
  api: Schemas['Api']
  deployments: readonly Deployment[]
  allowed: boolean
  onDo: (doing: Doing) => void
}

function DeploymentTable({ api, deployments, allowed, onDo }: DeploymentTableProps) {
  const deploy = useDeploy(api.id)
  return (
    <>
      {deploy.isError && <ProblemPanel what="The deployment is not started" error={deploy.error} />}
      <ScrollArea type="auto">
        <Table miw={640} verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Environment</Table.Th>
              <Table.Th>State</Table.Th>
              {allowed && <Table.Th>Actions</Table.Th>}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {deployments.map(({ environment, deployedAt, job }) => (
              <Table.Tr key={environment}>
                <Table.Td>
                  <Code>{environment}</Code>
                </Table.Td>
                <Table.Td>
                  <State deployedAt={deployedAt} job={job} />
                </Table.Td>
                {allowed && (
                  <Table.Td>
                    <Actions
                      environment={environment}
                      running={job !== undefined}
                      onDeploy={() => deploy.mutate(environment)}
                      onDo={onDo}
                    />
                  </Table.Td>
                )}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollArea>
    </>
  )
}

function State({ deployedAt, job }: Omit<Deployment, 'environment'>) {
  return (
    <>
      {job && (
        <Group gap="xs">
          <Loader size="xs" aria-hidden />
          <Text size="sm">
            {job.type === 'DEPLOY' ? 'Deploying' : 'Undeploying'}, started <Time at={job.startedAt} />
          </Text>
        </Group>
      )}
      {deployedAt && (
        <Text size="sm">
          Deployed <Time at={deployedAt} />
        </Text>
      )}
    </>
  )
}

interface ActionsProps {
  environment: string
  running: boolean
  onDeploy: () => void
  onDo: (doing: Doing) => void
}

function Actions({ environment, running, onDeploy, onDo }: ActionsProps) {
  const button = { size: 'compact-sm', variant: 'default' } as const
  if (running)
    return (
      <Button
        {...button}
        aria-label={`Cancel job of ${environment}`}
        onClick={() => onDo({ what: 'cancel', environment })}
      >
        Cancel job
      </Button>
    )
  return (
    <Group gap="xs">
      <Button {...button} aria-label={`Deploy again to ${environment}`} onClick={onDeploy}>
        Deploy again
      </Button>
      <Button
        {...button}
        aria-label={`Undeploy from ${environment}`}
        onClick={() => onDo({ what: 'undeploy', environment })}
      >
        Undeploy
      </Button>
    </Group>
  )
}

function Confirmation({ api, doing, onClose }: { api: string; doing: Doing; onClose: () => void }) {
  const queries = useQueryClient()
  const { what, environment } = doing
  const params = { path: { environment_id: environment, api_id: api } }
  if (what === 'undeploy')
    return (
      <ConfirmDialog
        title="Undeploy the API?"
        action="Undeploy"
        failed="The API is not undeployed"
        color="red"
        onConfirm={async () => {
          await answer(client.DELETE('/environments/{environment_id}/apis/{api_id}', { params }))
          await readAgain(queries, api)
        }}
        onClose={onClose}
      >
        <Text size="sm">
          A job removes it from the environment <Code>{environment}</Code>.
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
        await answer(client.POST('/environments/{environment_id}/apis/{api_id}/cancel', { params }))
        await readAgain(queries, api)
      }}
      onClose={onClose}
    >
      <Text size="sm">
        The job of the environment <Code>{environment}</Code> ends as failed, so that another can start. The
        deployment agent is not stopped and may still change the environment.
      </Text>
    </ConfirmDialog>
  )
}
