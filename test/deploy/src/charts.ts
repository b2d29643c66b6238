import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { goProgram } from '@gantry/engines'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { endsWithParent } from '../../../bin/orphans.mjs'
import { ROOT } from './files.ts'
import { kubernetesSchemas } from './schemas.ts'

export const HELM = '4.3.1'
export const CHART = join(ROOT, 'deploy/helm/gantry')

/**
 * Removes what talks to a cluster from the libraries of Helm: `lookup` and the list of API versions that are built into
 * Helm. Neither is used by the chart. These take 350 of 440 packages, and the time to compile them.
 */
const PATCHES = [
  { file: 'pkg/engine/engine.go', from: '\t"k8s.io/client-go/rest"\n', to: '' },
  { file: 'pkg/engine/engine.go', from: '*rest.Config', to: 'any' },
  { file: 'pkg/engine/engine.go', from: '*rest.Config', to: 'any' },
  {
    file: 'pkg/engine/lookup_func.go',
    to: `package engine

import "context"

type ClientProvider any

type clientProviderFromConfig struct{ config any }

func newLookupFunction(context.Context, ClientProvider) any { return nil }
`,
  },
  { file: 'pkg/chart/common/capabilities.go', from: '\t"k8s.io/client-go/kubernetes/scheme"\n', to: '' },
  {
    file: 'pkg/chart/common/capabilities.go',
    from: '\tapiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"\n',
    to: '',
  },
  {
    file: 'pkg/chart/common/capabilities.go',
    from: '\tapiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"\n',
    to: '',
  },
  {
    file: 'pkg/chart/common/capabilities.go',
    from: '\tapiextensionsv1beta1.AddToScheme(scheme.Scheme)\n',
    to: '',
  },
  {
    file: 'pkg/chart/common/capabilities.go',
    from: '\tapiextensionsv1.AddToScheme(scheme.Scheme)\n',
    to: '',
  },
  {
    file: 'pkg/chart/common/capabilities.go',
    from: 'scheme.Scheme.PrioritizedVersionsAllGroups()',
    to: '[]fmt.Stringer{}',
  },
  {
    file: 'internal/version/clientgo.go',
    from: '\t_ "k8s.io/client-go/kubernetes" // Force k8s.io/client-go to be included in the build\n',
    to: '',
  },
  {
    file: 'internal/version/clientgo.go',
    from: 'return "", errors.New("k8s.io/client-go not found in build info")',
    to: 'return "v0.37.0", nil',
  },
]

/** The program of test/deploy/charts, compiled with Go unless it is cached. @returns its path; undefined without Go */
export const chartsProgram = (): Promise<string | undefined> =>
  goProgram({
    name: 'charts',
    version: HELM,
    sources: join(import.meta.dirname, '..', 'charts'),
    module: 'helm.sh/helm/v4',
    patches: PATCHES,
    flags: ['-ldflags=-s -w'],
  })

/** A resource as JSON. */
// biome-ignore lint/suspicious/noExplicitAny: tests assert its structure
export type Resource = Record<string, any>

const Result = z.object({
  refused: z.string().optional(),
  files: z.record(z.string(), z.string()).nullish(),
  invalid: z.array(z.string()).nullish(),
  unchecked: z.array(z.string()).nullish(),
})

export interface Rendered {
  /** Why the values are refused; undefined if they are not. */
  refused: string | undefined
  resources: Resource[]
  /** What kubeconform refuses. */
  invalid: string[]
  /** Kinds without a schema. */
  unchecked: string[]
}

/** Renders the chart with sets of values, and validates the resources. @returns a result for each set */
export const render = <Name extends string>(
  program: string,
  sets: Record<Name, object>,
  namespace = 'gantry',
): Promise<Record<Name, Rendered>> => results(program, [CHART, namespace], sets)

/** Validates manifests, each a YAML text. @returns a result for each */
export const validate = <Name extends string>(
  program: string,
  manifests: Record<Name, string>,
): Promise<Record<Name, Rendered>> => results(program, [], manifests)

async function results<Name extends string>(
  program: string,
  args: readonly string[],
  inputs: Record<Name, object | string>,
): Promise<Record<Name, Rendered>> {
  const child = endsWithParent(spawn(program, [await kubernetesSchemas(), ...args]))
  child.stdin.end(JSON.stringify(inputs))
  const [printed, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  if (printed === '') throw new Error(errors)
  const parsed = z.record(z.string(), Result).parse(JSON.parse(printed))
  const rendered = Object.entries(parsed).map(([name, { refused, files, invalid, unchecked }]) => [
    name,
    {
      refused,
      resources: Object.values(files ?? {}).flatMap(resourcesIn),
      invalid: invalid ?? [],
      unchecked: unchecked ?? [],
    },
  ])
  return Object.fromEntries(rendered)
}

/** The resources of a YAML text, without empty documents. */
export const resourcesIn = (yaml: string): Resource[] =>
  parseAllDocuments(yaml)
    .map(document => {
      const [error] = document.errors
      if (error) throw error
      return document.toJS() as Resource | null
    })
    .filter(resource => resource !== null)

/** Resources by kind and name. */
export const byName = (resources: readonly Resource[]): Record<string, Resource> =>
  Object.fromEntries(resources.map(one => [`${one.kind} ${one.metadata.name}`, one]))
