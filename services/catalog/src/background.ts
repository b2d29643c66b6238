import { aggregate, type Projector, type Worker } from '@gantry/event-sourcing'
import type { AddRoute, Instrumented, NamesOf } from '@gantry/service-runtime'
import { apis } from './api/api.projection.ts'
import type { SearchFor } from './api/facets.routes.ts'
import type { EnvironmentNames } from './environment/environment.projection.ts'
import { importJobs } from './import/import.lines.ts'
import { type App, importRoutes } from './import/import.routes.ts'
import { ApiImports } from './import/imports.ts'
import { type BulkChanges, bulkChanges, bulkRoutes } from './job/bulk.ts'
import { jobDecider } from './job/job.decide.ts'
import { jobInputs } from './job/job.input.ts'
import { jobResults, jobs, projectJob } from './job/job.projection.ts'
import { jobRequests, jobRoutes } from './job/job.routes.ts'
import { startJobRunner } from './job/job.runner.ts'

export interface Jobs {
  routes(route: AddRoute): void
  /** Adds the routes whose bodies are documents, to an app of their own. */
  documentRoutes(app: App, route: AddRoute): void
  start(): Worker
}

export interface JobsOptions extends BulkChanges {
  /** Has the collections of `job.projection.ts`. */
  projector: Projector
  namesOf: NamesOf
  searchFor: SearchFor
  environments: EnvironmentNames
  /** Maximum number of versions of an API; 0 for no limit. */
  limit: number
}

/** The jobs of the catalog, and imports. */
export function jobsOf(dependencies: Instrumented, options: JobsOptions): Jobs {
  const { eventStore, readModels, process } = dependencies
  const { projector, api, namesOf, searchFor, environments, limit } = options
  const view = { projector, project: projectJob }
  const job = aggregate({ ...dependencies, category: 'job', decider: jobDecider, view })
  const inputs = jobInputs(eventStore)
  const documents = { job, jobs: readModels.collection(jobs), results: readModels.collection(jobResults) }
  const requestJob = jobRequests({ ...documents, inputs })
  const listed = readModels.collection(apis)
  const imports = new ApiImports({ api, apis: listed, peers: process.peers, limit })
  const kinds = { BULK: bulkChanges(options), IMPORT: importJobs(imports, process.peers) }
  return {
    routes(route) {
      jobRoutes(route, documents)
      bulkRoutes(route, { apis: listed, searchFor, environments, requestJob })
    },
    documentRoutes: (app, route) => importRoutes(app, route, { imports, apis: listed, namesOf, requestJob }),
    start: () => startJobRunner({ job, inputs, kinds, dependencies }),
  }
}
