import { aggregate, type Projector, type Worker } from '@gantry/event-sourcing'
import type { AddRoute, Instrumented } from '@gantry/service-runtime'
import { apis } from '../api/api.projection.ts'
import { type BulkChanges, bulkChanges, bulkRoutes } from './bulk.ts'
import { jobDecider } from './job.decide.ts'
import { jobInputs } from './job.input.ts'
import { jobResults, jobs, projectJob } from './job.projection.ts'
import { jobRequests, jobRoutes } from './job.routes.ts'
import { startJobRunner } from './job.runner.ts'

export interface Jobs {
  routes(route: AddRoute): void
  start(): Worker
}

/** The jobs of the catalog. @param parts.projector has the collections of `job.projection.ts` */
export function jobsOf(
  dependencies: Instrumented,
  { projector, ...changes }: BulkChanges & { projector: Projector },
): Jobs {
  const { eventStore, readModels } = dependencies
  const view = { projector, project: projectJob }
  const job = aggregate({ ...dependencies, category: 'job', decider: jobDecider, view })
  const inputs = jobInputs(eventStore)
  const documents = { job, jobs: readModels.collection(jobs), results: readModels.collection(jobResults) }
  const requestJob = jobRequests({ ...documents, inputs })
  return {
    routes(route) {
      jobRoutes(route, documents)
      bulkRoutes(route, { apis: readModels.collection(apis), requestJob })
    },
    start: () => startJobRunner({ job, inputs, kinds: { BULK: bulkChanges(changes) }, dependencies }),
  }
}
