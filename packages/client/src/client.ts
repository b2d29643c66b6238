import { requestBody } from './content.ts'
import { type FollowOptions, followEvents, type StreamedEvent } from './events.ts'
import { type Operations, ROUTES, type Schemas } from './operations.generated.ts'
import { type ClientOptions, jsonOf, pathOf, type Send, transport } from './transport.ts'

type OperationId = keyof Operations

/** What every operation accepts besides its input. */
interface AnyOptions {
  /** Ends the request and its retries, e.g. `AbortSignal.timeout(10_000)`. */
  signal?: AbortSignal | undefined
  /** Media type of content that is uploaded. Default: that of a Blob, else `application/octet-stream`. */
  contentType?: string | undefined
  /** Further headers, e.g. `range`. */
  headers?: Record<string, string>
}

interface ConditionalOptions {
  /** Change the record only if it still has this entity tag. Otherwise the code of the problem is `precondition-failed`. */
  ifMatch?: string | undefined
  /** Answer with the status 304, without a body, if the record still has this entity tag. */
  ifNoneMatch?: string | undefined
  /** Requests with the same key are carried out once. Default: a new key, so that retries are safe. */
  idempotencyKey?: string | undefined
}

export type CallOptions<Id extends OperationId = OperationId> = AnyOptions &
  Pick<ConditionalOptions, Operations[Id]['options']>

/** A successful response. Its status tells which of the possible bodies it has. */
export type Result<Id extends OperationId> = {
  [Status in keyof Operations[Id]['output']]: {
    status: Status
    body: Operations[Id]['output'][Status]
    /** Entity tag of the record, for `ifMatch` and `ifNoneMatch`. */
    etag: string | undefined
    headers: Headers
  }
}[keyof Operations[Id]['output']]

export interface NotModified {
  status: 304
  body: undefined
  etag: string | undefined
  headers: Headers
}

type Input<Id extends OperationId> = Operations[Id]['input']
/** The arguments of an operation. The input may be left out if nothing in it is required. */
type Arguments<In, Options> =
  Record<never, never> extends In ? [input?: In, options?: Options] : [input: In, options?: Options]
type Given<Name extends keyof ConditionalOptions> = { [Key in Name]: string }

/** Calls an operation. @throws ProblemError, or ConnectionError when the service cannot be reached */
type Call<Id extends OperationId> = (
  ...given: Arguments<Input<Id>, Omit<CallOptions<Id>, 'ifNoneMatch'>>
) => Promise<Result<Id>>

interface ConditionalCall<Id extends OperationId> extends Call<Id> {
  (input: Input<Id>, options: CallOptions<Id> & Given<'ifNoneMatch'>): Promise<Result<Id> | NotModified>
}

type ItemOf<Id extends OperationId> = Operations[Id]['output'] extends {
  200: { content: (infer Item)[]; last: boolean }
}
  ? Item
  : never

/** Items of all pages, which are read while they are iterated. */
export interface Items<Item> extends AsyncIterable<Item> {
  toArray(): Promise<Item[]>
}

interface ListCall<Id extends OperationId> extends Call<Id> {
  /**
   * The items of all pages. If items are changed, created or deleted meanwhile, those of later pages can move: collect them with
   * `toArray` before you change what the filters or the order depend on.
   */
  all(...given: Arguments<Omit<Input<Id>, 'page'>, AnyOptions>): Items<ItemOf<Id>>
}

type Import = Input<'importApi'>
type ImportOptions = CallOptions<'importApi'>
type ImportResult<Status> = Extract<Result<'importApi'>, { status: Status }>

interface ImportCall extends Call<'importApi'> {
  /** Answers what the import of a document would do, or with the job that finds it out for many. */
  (
    input: Import & { dryRun: true },
    options?: ImportOptions,
  ): Promise<(ImportResult<200> & { body: Schemas['ImportPlan'] }) | ImportResult<202>>
  /** Answers with the API of a document, or with the job that imports many. */
  (
    input: Import & { dryRun?: false | undefined },
    options?: ImportOptions,
  ): Promise<(ImportResult<200> & { body: Schemas['Api'] }) | ImportResult<201 | 202>>
}

type CallOf<Id extends OperationId> = [ItemOf<Id>] extends [never]
  ? 'ifNoneMatch' extends Operations[Id]['options']
    ? ConditionalCall<Id>
    : Call<Id>
  : ListCall<Id>

type StreamedEventType = Schemas['StreamedEventType']

/** A method for each operation, named by its operationId. */
export type GantryClient = { readonly [Id in Exclude<OperationId, 'importApi'>]: CallOf<Id> } & {
  readonly importApi: ImportCall
  /**
   * The public events from a position on, and new ones as they happen. Events of a type whose scope the token lacks are left
   * out. Connects again after failures, until the signal is aborted. Save the `position` of an event with its effect, and pass
   * it as `after` to continue.
   * @throws ProblemError when the position or the filter is refused, e.g. `log-replaced`
   */
  followEvents<Type extends StreamedEventType = StreamedEventType>(
    filter?: Omit<Input<'streamEvents'>, 'follow' | 'format' | 'size' | 'to' | 'type'> & {
      type?: readonly Type[] | undefined
    },
    options?: FollowOptions,
  ): AsyncGenerator<StreamedEvent<Type>, void, undefined>
}

/** The largest page, so that a list takes few requests. */
const PAGE_SIZE = 100

/** A client of the REST interface. */
export function gantryClient(options: ClientOptions): GantryClient {
  const send = transport(options)
  const calls = Object.entries(ROUTES).map(([id, route]) => {
    const call: AnyCall = (input, given) => callRoute(send, route, input, given)
    return [
      id,
      Object.assign(call, { all: (input: Fields, given: AnyOptions) => itemsOf(call, input, given) }),
    ]
  })
  const once = transport({ ...options, retries: 0 })
  return {
    ...Object.fromEntries(calls),
    followEvents: (filter: Fields, given: FollowOptions) => followEvents(once, filter, given),
  }
}

interface Route {
  method: string
  path: string
  repeatable?: boolean
  keyed?: boolean
  body?: string
  stream?: boolean
}
/** The input of any operation. */
type Fields = Record<string, unknown>
type EveryOption = AnyOptions & ConditionalOptions
type AnyCall = (input?: Fields, options?: EveryOption) => Promise<Result<'listApis'>>

async function callRoute(
  send: Send,
  route: Route,
  { body, ...parameters }: Fields = {},
  options: EveryOption = {},
): Promise<Result<'listApis'>> {
  const { ifMatch, ifNoneMatch, signal, contentType } = options
  const idempotencyKey = options.idempotencyKey ?? (route.keyed ? randomKey() : undefined)
  const request = {
    method: route.method,
    path: pathOf(route.path, parameters),
    headers: {
      ...(ifMatch && { 'if-match': ifMatch }),
      ...(ifNoneMatch && { 'if-none-match': ifNoneMatch }),
      ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
      ...options.headers,
    },
    body: await requestBody(body, route.body, contentType),
    // With If-Match, the second response would be 412 because of the first request.
    repeatable: route.method === 'GET' || !!idempotencyKey || (route.repeatable === true && !ifMatch),
    signal,
  }
  return send(request, async response => {
    const { status, headers } = response
    const etag = headers.get('etag') ?? undefined
    const content = route.stream && status !== 304 ? response.body : await jsonOf(response)
    return { status, body: content, etag, headers } as Result<'listApis'>
  })
}

function itemsOf(call: AnyCall, input: Fields, options: AnyOptions): Items<unknown> {
  async function* items() {
    for (let page = 1, last = false; !last; page++) {
      const { body } = await call({ size: PAGE_SIZE, ...input, page }, options)
      yield* body.content
      last = body.last
    }
  }
  return {
    [Symbol.asyncIterator]: items,
    async toArray() {
      const all: unknown[] = []
      for await (const item of items()) all.push(item)
      return all
    },
  }
}

/** `crypto.randomUUID` is absent on pages that are served without TLS. */
const randomKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, '0')).join('')

/** A login token, which is valid for an hour. @throws ProblemError `wrong-credentials` */
export async function logIn(
  options: ClientOptions & { username: string; password: string },
): Promise<string> {
  const { username, password, ...connection } = options
  const { headers } = await gantryClient(connection).login({ body: { username, password } })
  return (headers.get('authorization') ?? '').replace(/^Bearer /, '')
}
