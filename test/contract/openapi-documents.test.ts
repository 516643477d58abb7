import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { openApiDocument as apiDocument } from '../../api/openapi/document.ts';
import { openApiDocument as gatewayDocument } from '../../gateway/openapi/document.ts';

interface Tagged {
  readonly oneOf: readonly { readonly $ref?: string }[];
  readonly discriminator: { readonly propertyName: string; readonly mapping?: Readonly<Record<string, string>> };
}
type Content = Readonly<Record<string, { readonly schema?: object }>>;
interface Operation {
  readonly operationId: string;
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly requestBody?: { readonly content: Content };
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>;
    readonly securitySchemes: Readonly<Record<string, unknown>>;
  };
}

/** Every object of the document, however deep. */
function* objectsIn(value: unknown): Generator<object> {
  if (typeof value !== 'object' || value === null) return;
  yield value;
  for (const child of Object.values(value)) yield* objectsIn(child);
}

/** A union by a discriminator; an example or the properties of a schema may have a field of the same name. */
const isTagged = (value: object): value is Tagged =>
  'oneOf' in value &&
  'discriminator' in value &&
  typeof value.discriminator === 'object' &&
  value.discriminator !== null &&
  'propertyName' in value.discriminator;

const operations = ({ paths }: Document): readonly Operation[] => Object.values(paths).flatMap(Object.values);

/** Generators of clients (openapi-python-client, oapi-codegen, ogen) refuse a document that breaks one of these rules. */
describe.each([
  ['the API', apiDocument() as unknown as Document],
  ['the gateway', gatewayDocument() as unknown as Document],
])('the OpenAPI document of %s', (_name, document) => {
  it('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(structuredClone(document) as unknown as Record<string, unknown>);

    expect(result.errors).toBeUndefined();
    expect(result.valid).toBe(true);
  });

  it('describes each security scheme that an operation names', () => {
    const known = Object.keys(document.components.securitySchemes);
    const named = new Set(operations(document).flatMap(({ security }) => security.flatMap(Object.keys)));

    expect([...named].sort()).toEqual(known.toSorted());
  });

  it('names each variant of a union, and the value of the discriminator that leads to it', () => {
    const unions = [...objectsIn(document)].filter(isTagged);

    expect(unions).not.toEqual([]);
    for (const { oneOf, discriminator } of unions) {
      const references = oneOf.map(({ $ref }) => $ref);
      expect(Object.values(discriminator.mapping ?? {})).toEqual(references);
      for (const [value, reference] of Object.entries(discriminator.mapping ?? {})) {
        const schema = document.components.schemas[reference.split('/').at(-1) ?? ''];
        expect(schema).toMatchObject({ properties: { [discriminator.propertyName]: { enum: [value] } } });
      }
    }
  });

  it('has a schema for each content of a request', () => {
    const bodies = operations(document).flatMap(({ operationId, requestBody }) =>
      Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) => [operationId, type, schema !== undefined]),
    );

    expect(bodies.filter(([, , has]) => has !== true)).toEqual([]);
  });
});
