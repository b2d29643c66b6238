import { type DeploymentReport, Job, subjects } from '@gantry/contracts'
import { type Log, nameUuids, startReactor, type Worker } from '@gantry/event-sourcing'
import type { Bus } from '@gantry/messaging'

const reportUuid = nameUuids('9a0f5c1e-1b1d-4c63-8a8e-64c9d2a8f7b3')

/** Substitute for a deployment agent: reports success for every job at once, without deploying anything. */
export const startDeploymentAgent = (bus: Bus, log: Log): Worker =>
  startReactor({
    consumer: 'deployment-agent',
    subjects: [subjects.deploymentRequested],
    bus,
    log,
    async react(message) {
      const { data } = message.data as { data: unknown }
      const job = Job.parse(data)
      const report: DeploymentReport = {
        job: job.id,
        api: job.api,
        environment: job.environment,
        outcome: 'SUCCEEDED',
      }
      await bus.publish([{ id: reportUuid(job.id), subject: subjects.deploymentReported, data: report }])
    },
  })
