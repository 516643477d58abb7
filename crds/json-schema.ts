import type { SourceSchema } from './source-schema.ts';

/**
 * Plain JSON Schema (2020-12) of a schema, without Kubernetes' own keywords. A discriminated union is under
 * `oneOf`, where validators that know `discriminator` look at the named variant only, so that errors are of that one.
 * Any other union stays as it is.
 */
export function toJsonSchema(schema: SourceSchema): object {
  const { anyOf, properties, additionalProperties, items, ...rest } = schema;
  return {
    ...Object.fromEntries(Object.entries(rest).filter(([keyword]) => !keyword.startsWith('x-kubernetes-'))),
    ...(anyOf && union(anyOf.map(toJsonSchema), schema.discriminator !== undefined)),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, child]) => [key, toJsonSchema(child)])),
    }),
    ...(additionalProperties !== undefined && {
      additionalProperties: additionalProperties === false ? false : toJsonSchema(additionalProperties),
    }),
    ...(items && { items: toJsonSchema(items) }),
  };
}

const union = (variants: readonly object[], isDiscriminated: boolean): object =>
  isDiscriminated ? { type: 'object', oneOf: variants } : { anyOf: variants };
