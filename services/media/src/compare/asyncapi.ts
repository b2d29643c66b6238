import { isObject, listOf } from '../check/checked.ts'
import { type Changes, pairsOf, type Side } from './changes.ts'
import { child, children, members, type Part, resolved, rootOf } from './part.ts'
import { SchemaComparison } from './schemas.ts'

/** What an application does on a channel. */
interface OperationParts {
  part: Part
  /** Clients write what the application receives. */
  side: Side
  name: string
  /** By their names, or by their numbers. */
  messages: Map<string, Part>
}

/** Compares AsyncAPI documents, also of different versions: operations by channel, and the schemas of their messages. */
export function compareAsyncApi(before: unknown, after: unknown, changes: Changes): void {
  const schemas = new SchemaComparison(changes)
  for (const [, one, other] of pairsOf(operationsIn(before), operationsIn(after)))
    if (one && other) compareMessages(one, other, { changes, schemas })
    else if (one) changes.add('BREAKING', one.part.pointer, `${one.name} was removed`)
    else if (other) changes.add('COMPATIBLE', other.part.pointer, `${other.name} was added`)
}

function operationsIn(root: unknown): Map<string, OperationParts> {
  const isSecond = String(members(rootOf(root)).asyncapi).startsWith('2')
  const found = isSecond ? operationsIn2(root) : operationsIn3(root)
  return new Map([...found].map(operation => [operation.name, operation]))
}

const named = (part: Part, side: Side, address: unknown) => ({
  part,
  side,
  name: `the operation ${side === 'request' ? 'RECEIVE' : 'SEND'} ${address}`,
})

/** In AsyncAPI 2 `subscribe` is what a client can do: the application sends. */
function* operationsIn2(root: unknown): Generator<OperationParts> {
  for (const [address, at] of children(child(rootOf(root), 'channels')))
    for (const [member, side] of [
      ['subscribe', 'response'],
      ['publish', 'request'],
    ] as const) {
      const part = child(resolved(at), member)
      if (!isObject(part.value)) continue
      const message = resolved(child(part, 'message'))
      const several = children(child(message, 'oneOf')).map(([, one]) => one)
      yield { ...named(part, side, address), messages: byName(several.length > 0 ? several : [message]) }
    }
}

function* operationsIn3(root: unknown): Generator<OperationParts> {
  for (const [id, at] of children(child(rootOf(root), 'operations'))) {
    const part = resolved(at)
    const channel = resolved(child(part, 'channel'))
    const { address } = members(channel)
    const own = listOf(members(part).messages).length > 0
    const messages = children(child(own ? part : channel, 'messages')).map(([, message]) => message)
    const side = members(part).action === 'receive' ? 'request' : 'response'
    yield { ...named(part, side, address ?? id), messages: byName(messages) }
  }
}

const byName = (messages: readonly Part[]) =>
  new Map(
    messages.map((message, index) => {
      const part = resolved(message)
      const { name, messageId } = members(part)
      return [
        messages.length === 1 ? '' : String(name ?? messageId ?? part.pointer.split('/').at(-1) ?? index),
        part,
      ]
    }),
  )

function compareMessages(
  before: OperationParts,
  after: OperationParts,
  { changes, schemas }: { changes: Changes; schemas: SchemaComparison },
): void {
  const { side } = after
  for (const [name, one, other] of pairsOf(before.messages, after.messages)) {
    const { pointer } = other ?? one ?? after.part
    if (!one)
      changes.add(side === 'request' ? 'COMPATIBLE' : 'UNCLEAR', pointer, `the message ${name} was added`)
    else if (!other) changes.addEffect(side, 'narrowed', pointer, `the message ${name} was removed`)
    else
      for (const member of ['payload', 'headers']) {
        const [was, is] = [one, other].map(message => schemaOf(child(message, member)))
        if (was && is) schemas.compare([was], [is], side)
      }
  }
}

/** In AsyncAPI 3 a schema may be beside the name of its format. */
function schemaOf(part: Part): Part {
  const { schemaFormat, schema } = members(resolved(part))
  return schemaFormat !== undefined && schema !== undefined ? child(resolved(part), 'schema') : part
}
