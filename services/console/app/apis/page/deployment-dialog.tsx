import { Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { answer, client } from '../../http/client.ts'
import type { Schemas } from '../../http/schemas.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { EnvironmentDialog } from '../../parts/environment-dialog.tsx'
import { useEnvironmentNames } from '../../parts/environments.ts'
import { readAgain } from './reads.ts'

/** What a person is about to do with an API in an environment. */
export interface Doing {
  what: 'deploy' | 'undeploy' | 'cancel' | 'name'
  environment: string
}

interface DeploymentDialogProps {
  api: Schemas['Api']
  doing: Doing
  onDone?: () => void
  onClose: () => void
}

/** Asks before a deployment, an undeployment or the end of a job, with the names of the API and the environment. */
export function DeploymentDialog({
  api,
  doing: { what, environment },
  onDone,
  onClose,
}: DeploymentDialogProps) {
  const queries = useQueryClient()
  const names = useEnvironmentNames()
  if (what === 'name') return <EnvironmentDialog id={environment} onClose={onClose} />
  const name = names.get(environment) ?? nameIn(api, environment) ?? environment
  const undeploys = api.runningJobs?.find(job => job.environment === environment)?.type === 'UNDEPLOY'
  const { call, title, text, ...labels } = actionOf(what, {
    api: api.displayName,
    environment: name,
    undeploys,
  })
  return (
    <ConfirmDialog
      {...labels}
      title={title}
      onConfirm={async () => {
        await call({ environment_id: environment, api_id: api.id })
        onDone?.()
        await readAgain(queries, api.id)
      }}
      onClose={onClose}
    >
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {text}
      </Text>
    </ConfirmDialog>
  )
}

const nameIn = ({ deployedOn = [], runningJobs = [] }: Schemas['Api'], id: string) =>
  [...deployedOn, ...runningJobs].find(({ environment }) => environment === id)?.environmentName

interface Target {
  environment_id: string
  api_id: string
}

interface Naming {
  api: string
  environment: string
  /** Whether the running job is an undeployment. */
  undeploys: boolean
}

function actionOf(what: Exclude<Doing['what'], 'name'>, { api, environment, undeploys }: Naming) {
  if (what === 'deploy')
    return {
      call: (target: Target) => answer(client.deployApi(target)),
      title: 'Deploy the API?',
      text: `${api} is deployed to ${environment} as it is now, with all its versions.`,
      action: 'Deploy',
      failed: 'The deployment is not started',
    }
  if (what === 'undeploy')
    return {
      call: (target: Target) => answer(client.undeployApi(target)),
      title: 'Undeploy the API?',
      text: `${api} is removed from ${environment}.`,
      action: 'Undeploy',
      failed: 'The API is not undeployed',
      color: 'red' as const,
    }
  const word = undeploys ? 'undeployment' : 'deployment'
  return {
    call: (target: Target) => answer(client.cancelDeployment(target)),
    title: `Cancel the ${word}?`,
    text: `The ${word} of ${api} in ${environment} ends as failed, so that another can start. The deployment agent is not stopped and may still change the environment.`,
    action: `Cancel ${word}`,
    failed: `The ${word} is not cancelled`,
    color: 'red' as const,
  }
}
