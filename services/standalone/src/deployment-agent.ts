import { type DeploymentReport, Job, subjects } from '@gantry/contracts'
import { nameUuids, type ReactorOptions, startReactor, type Worker } from '@gantry/event-sourcing'
import type { StoredMessage } from '@gantry/messaging'

const reportUuid = nameUuids('9a0f5c1e-1b1d-4c63-8a8e-64c9d2a8f7b3')

/** Substitute for a deployment agent: reports success for every job at once, without deploying anything. */
export function startDeploymentAgent(options: ReactorOptions): Worker {
  const react = async (message: StoredMessage) => {
    const { data } = message.data as { data: unknown }
    const { id: job, api, environment } = Job.parse(data)
    const report: DeploymentReport = { job, api, environment, outcome: 'SUCCEEDED' }
    await options.bus.publish([{ id: reportUuid(job), subject: subjects.deploymentReported, data: report }])
  }
  return startReactor(
    { consumer: 'deployment-agent', subjects: [subjects.deploymentRequested], react },
    options,
  )
}
