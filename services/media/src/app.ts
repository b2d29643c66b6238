import { MAX_DESCRIBED, MAX_SCORED, requests, subjects } from '@gantry/contracts'
import { aggregate, type Executed, type Fact, Projector, streamName } from '@gantry/event-sourcing'
import {
  type AddRoute,
  type Dependencies,
  type Instrumented,
  instrumented,
  responder,
  router,
  type Service,
  sendDirectly,
  serviceFrom,
  temporal,
} from '@gantry/service-runtime'
import type { BlobStore } from '@gantry/stores'
import { BytesLost, type StoredBytes, storedBytes } from './bytes/bytes.ts'
import { type Checker, documentChecker } from './document/checker.ts'
import { type Contents, documentContents } from './document/contents.ts'
import { comparisons } from './document/diff.ts'
import { type DocumentsAggregate, documentDecider } from './document/document.decide.ts'
import {
  documentPeriods,
  documents,
  projectDocumentPeriods,
  projectDocuments,
} from './document/document.projection.ts'
import { type DocumentRoutes, documentRoutes, finding } from './document/document.routes.ts'
import { type DocumentEvent, type DocumentsState, documentIn } from './document/document.ts'
import { importResponders } from './document/imports.ts'
import { operations, operationsProjection } from './document/operations.projection.ts'
import { type ImageAggregate, imageDecider } from './image/image.decide.ts'
import { acceptForms } from './image/image.form.ts'
import { images, projectImage } from './image/image.projection.ts'
import { imageRoutes } from './image/image.routes.ts'
import type { ImageEvent, ImageState } from './image/image.ts'
import { publicEvents } from './public-events.ts'
import { reactionsOf, reactsTo } from './reactions.ts'
import { startLinter } from './rules/linter.ts'
import { type Linting, lintingThreads } from './rules/linting.ts'
import { lintsOf } from './rules/lints.ts'
import { type RuleSetAggregate, ruleSetDecider } from './rules/rule-set.decide.ts'
import { projectRuleSet, ruleSets } from './rules/rule-set.projection.ts'
import { ruleSetRoutes } from './rules/rule-set.routes.ts'
import type { DocumentSettings } from './settings.ts'
import { startDraftSweeper, startSweeper } from './sweeper.ts'

/** Images of APIs and documents of versions. Their bytes are in the blob store, all other data is in the log. */
export function mediaService(
  given: Dependencies & { blobs: BlobStore },
  settings: DocumentSettings,
  threads: { checker?: Checker; linting?: Linting } = {},
): Service {
  const dependencies = instrumented(given)
  const { readModels, process } = dependencies
  const { checker = documentChecker(process.log), linting = lintingThreads(process.log) } = threads
  const bytes = storedBytes(given.blobs)
  const projector = mediaProjector(dependencies)
  const image = imageAggregate(dependencies, projector)
  const rules = ruleParts(dependencies, { bytes, linting, projector })
  const docs = documentParts(dependencies, { bytes, checker, projector })
  const react = reactionsOf({ image, documents: docs.aggregate }, dependencies)
  const announcing = announcements(dependencies, docs.projector)
  const uploads = { bytes, strict: settings.DOCUMENTS_STRICT, limit: settings.MAX_DOCUMENTS_PER_VERSION }

  return serviceFrom(dependencies, {
    name: 'media',
    projectors: [projector, docs.projector, docs.periods.projector],
    async routes(app, admit) {
      const route = router(app, admit, dependencies, 'media')
      const named = namedDocuments(dependencies, docs.periods)
      rules.addRoutes(route, finding(named))
      await app.register(async forms => {
        await acceptForms(forms)
        imageRoutes(route, router(forms, admit, dependencies, 'media'), {
          image,
          images: readModels.collection(images),
          bytes,
          apiExists: async api => (await process.peers.ask(requests.apiExists, { api })).exists,
          announce: announcing.image,
        })
      })
      await app.register(async bodies => {
        bodies.removeAllContentTypeParsers()
        // The handler reads the body.
        bodies.addContentTypeParser('*', (_request, _body, done) => done(null))
        documentRoutes(route, router(bodies, admit, dependencies, 'media'), {
          ...docs,
          ...uploads,
          ...named,
          operations: readModels.collection(operations),
          rules: rules.found,
          announce: announcing.document,
          keptSince: () => new Date(given.now().getTime() - settings.DOCUMENT_RETENTION).toISOString(),
        })
      })
    },
    publication: {
      streamPrefixes: ['image-', 'documents-'],
      publicEvents,
      subjects: [subjects.events('media', '*')],
    },
    reactors: Object.entries(reactsTo).map(([consumer, subject]) => ({
      consumer,
      subjects: [subject],
      react,
    })),
    workers: [
      () => startSweeper(bytes, { ...dependencies, retentionMs: settings.DOCUMENT_RETENTION }),
      ...docs.workers,
      ...rules.workers,
    ],
    responders: [
      responder(requests.react('media'), async message => {
        await react(message)
        return null
      }),
      ...importResponders({ ...uploads, ...docs, announce: announcing.document, now: given.now }),
      responder(requests.scoresBelow, async ({ score }) => ({
        scores: await rules.found.worst(score, MAX_SCORED),
      })),
      responder(requests.describedBy, async asked => ({ description: await docs.described(asked) })),
    ],
  })
}

/** The documents, and what finds the versions that callers name. */
const namedDocuments = (
  { readModels, process }: Instrumented,
  periods: ReturnType<typeof documentParts>['periods'],
): Pick<DocumentRoutes, 'documents' | 'findVersion'> => ({
  documents: periods.moments(readModels.collection(documents), documentPeriods),
  findVersion: async (api, version, at, active) =>
    (await process.peers.ask(requests.findVersion, { api, version, at, active })).id,
})

/** Sends changes to catalog without delay. */
function announcements({ eventStore, process }: Instrumented, ofOperations: Pick<Projector, 'reached'>) {
  const send = async (facts: readonly Fact[]) => {
    for (const message of facts.flatMap(publicEvents)) await sendDirectly(process.peers, 'catalog', message)
  }
  return {
    /** Without a change it sends the last event again, since its writer may have died before sending it. */
    image: async (api: string, { facts, revision }: Executed<ImageState, ImageEvent>) =>
      send(facts.length > 0 ? facts : await eventStore.readStream(streamName('image', api), revision)),
    /** Without a change it sends the last event of the document. Waits for a limited time until its operations are found. */
    async document(
      api: string,
      document: string,
      { facts, state, position }: Executed<DocumentsState, DocumentEvent>,
    ) {
      const stream = streamName('documents', api)
      const known =
        facts.length > 0 ? facts : await eventStore.readStream(stream, state.uploads.get(document))
      await send(known.slice(0, 1))
      if (facts.length > 0 && position !== undefined) await ofOperations.reached(position, PROJECTED_MS)
    },
  }
}

/** Maximum time that a change of a document waits for its operations, in milliseconds. */
const PROJECTED_MS = 2_000

const mediaProjector = ({ process, ...dependencies }: Instrumented) =>
  new Projector({
    ...dependencies,
    ...process,
    name: 'media.projector',
    collections: [images, documents, ruleSets],
  })

const imageAggregate = (dependencies: Instrumented, projector: Projector): ImageAggregate =>
  aggregate({
    ...dependencies,
    category: 'image',
    decider: imageDecider,
    view: { projector, project: projectImage },
  })

/** The rule sets, and what they find in documents. */
function ruleParts(
  dependencies: Instrumented,
  { bytes, linting, projector }: { bytes: StoredBytes; linting: Linting; projector: Projector },
) {
  const { readModels } = dependencies
  const ruleSet: RuleSetAggregate = aggregate({
    ...dependencies,
    category: 'ruleset',
    decider: ruleSetDecider,
    view: { projector, project: projectRuleSet },
  })
  const parts = {
    lints: lintsOf(bytes, readModels),
    linting,
    ruleSets: readModels.collection(ruleSets),
    documents: readModels.collection(documents),
  }
  return {
    found: parts.lints,
    addRoutes: (route: AddRoute, findDocument: ReturnType<typeof finding>) =>
      ruleSetRoutes(route, { ...parts, ruleSet, bytes, findDocument }),
    workers: [() => startLinter({ ...dependencies, ...parts, bytes }), () => linting],
  }
}

/** The documents, what they say, and their read models. */
function documentParts(
  dependencies: Instrumented,
  { bytes, checker, projector }: { bytes: StoredBytes; checker: Checker; projector: Projector },
) {
  const { process } = dependencies
  const { log } = process
  const contents = documentContents(bytes, checker, log)
  const documentsAggregate = aggregate({
    ...dependencies,
    category: 'documents',
    decider: documentDecider,
    view: { projector, project: projectDocuments },
  })
  const ofOperations = new Projector({
    ...dependencies,
    ...process,
    name: 'media.operations',
    collections: [operations],
    background: true,
  })
  ofOperations.register(operationsProjection({ aggregate: documentsAggregate, contents, log }))
  const periods = temporal(dependencies, {
    name: 'media.periods',
    category: 'documents',
    decider: documentDecider,
    project: projectDocumentPeriods,
    collections: [documentPeriods],
  })
  return {
    aggregate: documentsAggregate,
    checker,
    workers: [() => checker, () => startDraftSweeper(bytes, process)],
    contents,
    comparisons: comparisons({
      ...{ log, aggregate: documentsAggregate, bytes, checker },
      versionsBefore: async (api, version) =>
        (await process.peers.ask(requests.versionsBefore, { api, version })).ids,
    }),
    projector: ofOperations,
    periods,
    described: descriptionsOf(documentsAggregate, contents),
  }
}

/** What a document says about its API, in pieces. Nothing once its bytes are lost. */
function descriptionsOf(documents: Pick<DocumentsAggregate, 'load'>, contents: Pick<Contents, 'of'>) {
  return async ({
    api,
    version,
    name,
    from,
  }: {
    api: string
    version: string
    name: string
    from: number
  }) => {
    const { state } = await documents.load(api)
    const document = state.status === 'Live' ? documentIn(state, version, name) : undefined
    if (!document) return null
    try {
      const { title, operations } = (await contents.of(document)).content
      const described = operations
        .slice(from, from + MAX_DESCRIBED)
        .map(({ path, operationId, summary }) => [path, operationId, summary].filter(Boolean).join(' '))
      return { title, operations: described, total: operations.length }
    } catch (error) {
      if (error instanceof BytesLost) return null
      throw error
    }
  }
}
