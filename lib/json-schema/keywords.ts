/** Type of the value of a keyword, and the places of schemas in it. */
export type KeywordShape =
  | 'schema'
  | 'schemas'
  | 'schemaOrSchemas'
  | 'schemaMap'
  | 'patternMap'
  | 'dependencies'
  | 'nameLists'
  | 'names'
  | 'values'
  | 'type'
  | 'count'
  | 'number'
  | 'positive'
  | 'boolean'
  | 'text'
  | 'pattern'
  | 'any';

/** Keywords of JSON Schema 2020-12 that are supported; a few of draft-07 are added by `draft7`. */
export const keywords: ReadonlyMap<string, KeywordShape> = new Map<string, KeywordShape>([
  ['$schema', 'text'],
  ['$id', 'text'],
  ['$ref', 'text'],
  ['$anchor', 'text'],
  ['$comment', 'text'],
  ['$defs', 'schemaMap'],
  ['definitions', 'schemaMap'],
  ['title', 'text'],
  ['description', 'text'],
  ['default', 'any'],
  ['examples', 'any'],
  ['deprecated', 'boolean'],
  ['readOnly', 'boolean'],
  ['writeOnly', 'boolean'],
  // An annotation: the dialect asserts nothing by it.
  ['format', 'text'],
  ['contentEncoding', 'text'],
  ['contentMediaType', 'text'],
  ['type', 'type'],
  ['enum', 'values'],
  ['const', 'any'],
  ['multipleOf', 'positive'],
  ['maximum', 'number'],
  ['exclusiveMaximum', 'number'],
  ['minimum', 'number'],
  ['exclusiveMinimum', 'number'],
  ['maxLength', 'count'],
  ['minLength', 'count'],
  ['pattern', 'pattern'],
  ['prefixItems', 'schemas'],
  ['items', 'schema'],
  ['contains', 'schema'],
  ['minContains', 'count'],
  ['maxContains', 'count'],
  ['maxItems', 'count'],
  ['minItems', 'count'],
  ['uniqueItems', 'boolean'],
  ['properties', 'schemaMap'],
  ['patternProperties', 'patternMap'],
  ['additionalProperties', 'schema'],
  ['propertyNames', 'schema'],
  ['required', 'names'],
  ['maxProperties', 'count'],
  ['minProperties', 'count'],
  ['dependentRequired', 'nameLists'],
  ['dependentSchemas', 'schemaMap'],
  ['allOf', 'schemas'],
  ['anyOf', 'schemas'],
  ['oneOf', 'schemas'],
  ['not', 'schema'],
  ['if', 'schema'],
  ['then', 'schema'],
  ['else', 'schema'],
  ['unevaluatedItems', 'schema'],
  ['unevaluatedProperties', 'schema'],
]);

/** Where draft-07 differs (requirements AMB-087: tolerated when `$schema` names it). */
export const draft7: ReadonlyMap<string, KeywordShape> = new Map<string, KeywordShape>([
  ['items', 'schemaOrSchemas'],
  ['additionalItems', 'schema'],
  ['dependencies', 'dependencies'],
]);

/** Keywords whose schemas apply to the same value, so that a reference among them could go round without end. */
export const inPlace: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
  'dependencies',
]);

export const typeNames: ReadonlySet<unknown> = new Set([
  'string',
  'number',
  'integer',
  'boolean',
  'object',
  'array',
  'null',
]);
