/** The built-in rules by their names, with what each finds. Rules of OpenAPI apply to AsyncAPI as far as it has the same parts. */
export const RULES: Readonly<Record<string, string>> = {
  struct: 'What the specification of the format does not allow',
  'no-unresolved-refs': 'References to what does not exist',
  'info-contact': 'No contact in info',
  'info-license': 'No license in info',
  'info-license-strict': 'A license without URL or identifier',
  'tag-description': 'Tags without a description',
  'tags-alphabetical': 'Tags that are not in alphabetical order',
  'no-duplicated-tag-names': 'Two tags of one name',
  'operation-summary': 'Operations without a summary',
  'operation-description': 'Operations without a description',
  'operation-operationId': 'Operations without an operationId',
  'operation-operationId-unique': 'Two operations of one operationId',
  'operation-operationId-url-safe': 'An operationId with characters that URLs must encode',
  'operation-2xx-response': 'Operations without a response of success (2xx)',
  'operation-4xx-response': 'Operations without a response to wrong requests (4xx)',
  'operation-4xx-problem-details-rfc7807': 'Responses 4xx that are no problem details (RFC 7807)',
  'operation-parameters-unique': 'An operation with one parameter twice',
  'operation-tag-defined': 'Tags of operations that the document does not define',
  'operation-singular-tag': 'Operations with more than one tag',
  'parameter-description': 'Parameters without a description',
  'boolean-parameter-prefixes': 'Boolean parameters without a prefix such as is or has',
  'array-parameter-serialization': 'Parameters with lists that do not say how they are written',
  'paths-kebab-case': 'Paths that are not in kebab-case',
  'path-segment-plural': 'Parts of paths that are not plural',
  'path-declaration-must-exist': 'Paths with {} that name no parameter',
  'path-not-include-query': 'Paths with a query (?)',
  'path-parameters-defined': 'Parameters in a path that are not defined, and the reverse',
  'path-params-defined': 'The former name of path-parameters-defined',
  'path-http-verbs-order': 'Methods of a path that are not in the usual order',
  'no-path-trailing-slash': 'Paths that end with a slash',
  'no-identical-paths': 'Paths that differ in the names of parameters only',
  'no-ambiguous-paths': 'Paths that match the same request',
  'no-http-verbs-in-paths': 'Paths with verbs such as get or delete',
  'request-mime-type': 'Media types of requests that are not allowed; takes allowedValues',
  'response-mime-type': 'Media types of responses that are not allowed; takes allowedValues',
  'response-contains-header': 'Responses without certain headers; takes names by status',
  'response-contains-property': 'Responses without certain properties; takes names by status',
  'security-defined': 'Operations without security, or with one that is not defined',
  'security-scopes-defined': 'Scopes of operations that are not defined',
  'no-empty-servers': 'No servers',
  'no-server-example.com': 'A server at example.com or localhost',
  'no-server-trailing-slash': 'URLs of servers that end with a slash',
  'no-server-variables-empty-enum': 'Variables of servers with an empty enum, or a default that is not in it',
  'no-undefined-server-variable': 'Variables in URLs of servers that are not defined',
  'no-unused-components': 'Components that nothing refers to',
  'component-name-unique': 'Components of one name in several files',
  'spec-components-invalid-map-name': 'Names of components with characters that are not allowed',
  'no-duplicated-enum-values': 'An enum with a value twice',
  'no-enum-type-mismatch': 'Values of an enum that are not of its type',
  'no-schema-type-mismatch': 'Schemas with parts of another type, e.g. properties of a list',
  'no-required-schema-properties-undefined': 'Required properties that are not defined',
  'no-illogical-composition-keywords': 'oneOf, anyOf or allOf with one schema, or one schema twice',
  'no-mixed-number-range-constraints': 'Both maximum and exclusiveMaximum, or both minimums',
  'nullable-type-sibling': 'nullable without a type',
  'required-string-property-missing-min-length': 'Required texts that may be empty',
  'scalar-property-missing-example': 'Properties without an example',
  'no-invalid-schema-examples': 'Examples that do not match their schema',
  'no-invalid-parameter-examples': 'Examples of parameters that do not match their schema',
  'no-invalid-media-type-examples': 'Examples of bodies that do not match their schema',
  'no-example-value-and-externalValue': 'Examples with both a value and an externalValue',
  'no-unsafe-markdown': 'Descriptions with scripts or other unsafe markup',
  'spec-example-values': 'Combinations of members of examples that are not allowed',
  'spec-ref-siblings': 'Members beside $ref that are ignored',
  'spec-strict-refs': '$ref where the specification does not allow it',
  'spec-discriminator-defaultMapping': 'Discriminators of OpenAPI 3.2 without a mapping by default',
  'spec-no-invalid-encoding-combinations': 'Encodings of OpenAPI 3.2 that exclude each other',
  'spec-no-invalid-tag-parents': 'Parents of tags of OpenAPI 3.2 that do not exist, or are in a circle',
  'spec-querystring-parameters': 'Parameters of OpenAPI 3.2 that are in querystring, used wrongly',
  'channels-kebab-case': 'Channels of AsyncAPI that are not in kebab-case',
  'no-channel-trailing-slash': 'Channels of AsyncAPI that end with a slash',
}

/** What is added of rules that need options; of the others, that they warn. */
const NEEDED: Readonly<Record<string, object>> = {
  'request-mime-type': { severity: 'warn', allowedValues: ['application/json'] },
  'response-mime-type': { severity: 'warn', allowedValues: ['application/json'] },
  'response-contains-header': { severity: 'warn', names: { '2xx': ['ETag'] } },
  'response-contains-property': { severity: 'warn', names: { '2xx': ['id'] } },
}

/** Whether a rule is in the content of a rule set. */
export function hasRule(content: string, name: string): boolean {
  const escaped = name.replaceAll('.', '\\.')
  return new RegExp(`(^|[\\s{,"'])${escaped}["']?\\s*:`).test(content)
}

/** Adds a rule as a warning to the content of a rule set, which may be YAML of either style, or JSON. */
export function withRule(content: string, name: string): string {
  const needed = NEEDED[name]
  const value = needed ? JSON.stringify(needed) : 'warn'
  const flow = /(^|[\s{,])(["']?)rules\2\s*:\s*\{(\s*)(\}?)/.exec(content)
  if (flow) {
    const [found, , , space = '', end = ''] = flow
    const quote = content.trimStart().startsWith('{') ? '"' : ''
    const entry = `${space}${quote}${name}${quote}: ${needed ? value : `${quote}warn${quote}`}`
    const upTo = flow.index + found.length - space.length - end.length
    return `${content.slice(0, upTo)}${entry}${end ? '' : `,${space || ' '}`}${content.slice(upTo + space.length)}`
  }
  const block = /^rules[ \t]*:[ \t]*(?:#.*)?$/m.exec(content)
  if (!block) return `${content.replace(/\n*$/, content.trim() ? '\n' : '')}rules:\n  ${name}: ${value}\n`
  const end = block.index + block[0].length
  const rest = content.slice(end).replace(/^\n/, '')
  const [, indent = '  '] = /^(?:[ \t]*(?:#.*)?\n)*([ \t]+)\S/.exec(rest) ?? []
  return `${content.slice(0, end)}\n${indent}${name}: ${value}\n${rest}`
}
