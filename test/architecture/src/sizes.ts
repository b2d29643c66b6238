import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { TEST_FILES } from './import-rules.ts'
import { sourceFiles } from './source-files.ts'

const MOST_LINES = 80
const MOST_FIELDS = 8
const MOST_FILES = 20

/** Names of parameters, and last words of names of types, that mark an option bag. */
const BAG = /(options|dependencies|parts|settings)$/i

const isTest = (path: string) => TEST_FILES.some(pattern => new RegExp(pattern).test(path))

/**
 * Checks the sizes of functions and option bags. Tests have no limits.
 *
 * A function has at most 80 lines, from its first line without comments before it to its closing brace, inner functions
 * included. A class is not a function; each of its methods is one.
 *
 * An option bag is the type of a parameter that is written in place as an object, or whose parameter or own name ends in
 * options, dependencies, parts or settings. It has at most 8 fields, including those of the types that it extends or
 * intersects. A pattern that destructures a parameter has at most 8 names. Types that zod infers do not count.
 *
 * A folder of the product has at most 20 source files.
 *
 * @param root folder of the project
 * @returns violations as lines for people
 */
export function checkSizes(root: string): string[] {
  const paths = sourceFiles(root).filter(path => !isTest(path))
  const files = paths.map(path =>
    ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.Latest, true),
  )
  const typeNamed = typesByName(files)
  const found = files.flatMap(file => [
    ...functionsOf(file).flatMap(node => longFunction(file, node)),
    ...functionsOf(file).flatMap(({ parameters }) =>
      parameters.flatMap(parameter => largeBag(file, parameter, typeNamed)),
    ),
  ])
  // A type may be that of several parameters.
  return [...new Set(found), ...fullFolders(paths)]
}

function fullFolders(paths: readonly string[]): string[] {
  const folders = Map.groupBy(
    paths.filter(path => !path.startsWith('services/console/')),
    path => dirname(path),
  )
  return [...folders]
    .filter(([, { length }]) => length > MOST_FILES)
    .map(([folder, { length }]) => `${folder}: ${length} source files, at most ${MOST_FILES}`)
}

function longFunction(file: ts.SourceFile, node: ts.SignatureDeclaration): string[] {
  const line = (position: number) => file.getLineAndCharacterOfPosition(position).line
  const lines = line(node.getEnd()) - line(node.getStart()) + 1
  if (!('body' in node && node.body) || lines <= MOST_LINES) return []
  return [`${file.fileName} ${nameOf(node)}: ${lines} lines, at most ${MOST_LINES}`]
}

function largeBag(
  file: ts.SourceFile,
  { name, parent, type }: ts.ParameterDeclaration,
  typeNamed: TypeNamed,
) {
  const excess = (what: string, fields: number): string[] =>
    fields > MOST_FIELDS ? [`${what}: ${fields} fields, at most ${MOST_FIELDS}`] : []
  const here = `${file.fileName} parameter of ${nameOf(parent)}`
  if (ts.isObjectBindingPattern(name) && name.elements.length > MOST_FIELDS)
    return excess(here, name.elements.length)
  if (!type) return []
  const fields = fieldsOf(type, file, typeNamed)
  if (!ts.isTypeReferenceNode(type)) return excess(here, fields)
  const own = type.typeName.getText()
  const declared = typeNamed(own, file)
  if (!declared || ![own, name.getText()].some(text => BAG.test(text))) return []
  return excess(`${declared.getSourceFile().fileName} ${own}`, fields)
}

type NamedType = ts.InterfaceDeclaration | ts.TypeAliasDeclaration
/** Finds a type by its name in a file: in this file, else in its workspace, else in the project. */
type TypeNamed = (name: string, file: ts.SourceFile) => NamedType | undefined

function typesByName(files: readonly ts.SourceFile[]): TypeNamed {
  const types = new Map<string, NamedType[]>()
  const workspace = ({ fileName }: ts.SourceFile) => fileName.split('/').slice(0, 2).join('/')
  for (const node of files.flatMap(descendants)) {
    if (!ts.isInterfaceDeclaration(node) && !ts.isTypeAliasDeclaration(node)) continue
    types.set(node.name.text, [...(types.get(node.name.text) ?? []), node])
  }
  return (name, file) => {
    const named = types.get(name) ?? []
    return (
      named.find(type => type.getSourceFile() === file) ??
      named.find(type => workspace(type.getSourceFile()) === workspace(file)) ??
      named[0]
    )
  }
}

/** The number of fields of an object type; 0 for any other type. */
function fieldsOf(type: ts.Node, file: ts.SourceFile, typeNamed: TypeNamed): number {
  const sum = (types: readonly ts.Node[]) =>
    types.reduce((fields, part) => fields + fieldsOf(part, file, typeNamed), 0)
  if (ts.isTypeLiteralNode(type)) return type.members.length
  if (ts.isIntersectionTypeNode(type)) return sum(type.types)
  if (ts.isTypeAliasDeclaration(type)) return fieldsOf(type.type, type.getSourceFile(), typeNamed)
  if (ts.isInterfaceDeclaration(type))
    return type.members.length + sum((type.heritageClauses ?? []).flatMap(({ types }) => [...types]))
  const name = ts.isTypeReferenceNode(type)
    ? type.typeName.getText()
    : ts.isExpressionWithTypeArguments(type)
      ? type.expression.getText()
      : undefined
  const named = name === undefined ? undefined : typeNamed(name, file)
  return named ? fieldsOf(named, named.getSourceFile(), typeNamed) : 0
}

/** The name of a function, or of what it is assigned to; of methods with their class. */
function nameOf(node: ts.Node): string {
  if (ts.isSourceFile(node)) return 'module'
  const { name } = node as ts.NamedDeclaration
  if (!name) return nameOf(node.parent)
  return ts.isClassLike(node.parent) ? `${nameOf(node.parent)}.${name.getText()}` : name.getText()
}

const functionsOf = (file: ts.SourceFile) => descendants(file).filter(ts.isFunctionLike)

function descendants(node: ts.Node): ts.Node[] {
  const found: ts.Node[] = []
  const visit = (child: ts.Node) => {
    found.push(child)
    ts.forEachChild(child, visit)
  }
  visit(node)
  return found
}
