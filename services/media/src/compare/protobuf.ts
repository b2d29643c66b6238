import protobuf from 'protobufjs'
import { type Changes, pairsOf } from './changes.ts'

/** Compares files of Protocol Buffers by what is on the wire: numbers, types, and methods. */
export function compareProtobuf(
  before: readonly protobuf.Root[],
  after: readonly protobuf.Root[],
  changes: Changes,
): void {
  for (const [name, one, other] of pairsOf(declaredIn(before), declaredIn(after)))
    if (one instanceof protobuf.Type && other instanceof protobuf.Type) compareFields(one, other, changes)
    else if (one instanceof protobuf.Enum && other instanceof protobuf.Enum)
      compareValues(one, other, changes)
    else if (one instanceof protobuf.Service && other instanceof protobuf.Service)
      compareMethods(one, other, changes)
    else if (one && other) changes.add('BREAKING', name, `${name} is of another kind`)
    else changes.add(one ? 'BREAKING' : 'COMPATIBLE', name, `${name} was ${one ? 'removed' : 'added'}`)
}

const nameOf = ({ fullName }: protobuf.ReflectionObject) => fullName.replace(/^\./, '')

function declaredIn(roots: readonly protobuf.Root[]): Map<string, protobuf.ReflectionObject> {
  const found = new Map<string, protobuf.ReflectionObject>()
  const visit = (part: protobuf.ReflectionObject) => {
    const isDeclared = [protobuf.Type, protobuf.Enum, protobuf.Service].some(kind => part instanceof kind)
    if (isDeclared) found.set(nameOf(part), part)
    if ('nestedArray' in part)
      for (const nested of (part as protobuf.NamespaceBase).nestedArray) visit(nested)
  }
  for (const root of roots) visit(root)
  return found
}

/** Types that read each other's bytes, though not every value (Protocol Buffers, "Updating A Message Type"). */
const ALIKE = [
  'int32 uint32 int64 uint64 bool',
  'sint32 sint64',
  'fixed32 sfixed32',
  'fixed64 sfixed64',
  'string bytes',
]

/** A type by its full name, if it is in the same file. */
const typeName = (type: string, from: protobuf.ReflectionObject) => {
  const found = type in protobuf.types.basic ? undefined : from.parent?.lookup(type)
  return found ? nameOf(found) : type
}
const typeOf = (field: protobuf.Field) => {
  const type = typeName(field.type, field)
  return field instanceof protobuf.MapField ? `map<${field.keyType}, ${type}>` : type
}

function compareFields(before: protobuf.Type, after: protobuf.Type, changes: Changes): void {
  const byId = ({ fieldsArray }: protobuf.Type) => new Map(fieldsArray.map(one => [String(one.id), one]))
  for (const [id, one, other] of pairsOf(byId(before), byId(after))) {
    const field = other ?? one
    if (!field || changes.isFull) return
    const place = `${nameOf(after)}.${field.name}`
    if (!one) {
      const level = field.required ? 'BREAKING' : 'COMPATIBLE'
      changes.add(
        level,
        place,
        `the ${field.required ? 'required ' : ''}field ${field.name} = ${id} was added`,
      )
    } else if (!other) changes.add('BREAKING', place, `the field ${field.name} = ${id} was removed`)
    else compareField(one, other, { changes, place })
  }
}

function compareField(
  before: protobuf.Field,
  after: protobuf.Field,
  { changes, place }: { changes: Changes; place: string },
): void {
  const [was, is] = [typeOf(before), typeOf(after)]
  const isAlike = ALIKE.some(types => [was, is].every(type => types.split(' ').includes(type)))
  if (was !== is)
    changes.add(isAlike ? 'UNCLEAR' : 'BREAKING', place, `the type changed from ${was} to ${is}`)
  if (before.name !== after.name)
    changes.add('UNCLEAR', place, `the field was called ${before.name}, which JSON shows`)
  if (before.repeated !== after.repeated)
    changes.add('BREAKING', place, `the field is ${after.repeated ? 'repeated now' : 'no longer repeated'}`)
  if (before.required !== after.required)
    changes.add('BREAKING', place, `the field became ${after.required ? 'required' : 'optional'}`)
  if (before.partOf?.name !== after.partOf?.name)
    changes.add(
      'UNCLEAR',
      place,
      `the field is ${after.partOf ? `in oneof ${after.partOf.name}` : 'in no oneof'} now`,
    )
}

function compareValues(before: protobuf.Enum, after: protobuf.Enum, changes: Changes): void {
  const byNumber = ({ values }: protobuf.Enum) =>
    new Map(Object.entries(values).map(([name, number]) => [String(number), name]))
  for (const [number, one, other] of pairsOf(byNumber(before), byNumber(after))) {
    const place = `${nameOf(after)}.${other ?? one}`
    if (!one) changes.add('COMPATIBLE', place, `the value ${other} = ${number} was added`)
    else if (!other) changes.add('BREAKING', place, `the value ${one} = ${number} was removed`)
    else if (one !== other) changes.add('UNCLEAR', place, `the value was called ${one}, which JSON shows`)
  }
}

function compareMethods(before: protobuf.Service, after: protobuf.Service, changes: Changes): void {
  const byName = ({ methodsArray }: protobuf.Service) => new Map(methodsArray.map(one => [one.name, one]))
  const shown = (method: protobuf.Method) => {
    const type = (name: string, isStream: boolean | undefined) =>
      `${isStream ? 'stream ' : ''}${typeName(name, method)}`
    return `(${type(method.requestType, method.requestStream)}) returns (${type(method.responseType, method.responseStream)})`
  }
  for (const [name, one, other] of pairsOf(byName(before), byName(after))) {
    const place = `${nameOf(after)}.${name}`
    if (!one) changes.add('COMPATIBLE', place, `the method ${name} was added`)
    else if (!other) changes.add('BREAKING', place, `the method ${name} was removed`)
    else if (shown(one) !== shown(other))
      changes.add('BREAKING', place, `the method changed from ${shown(one)} to ${shown(other)}`)
  }
}
