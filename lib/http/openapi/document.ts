import type { TObject, TSchema } from 'typebox';
import type { Contract } from '../contract.ts';
import { errorSchema, rpcErrorSchema } from './error-schema.ts';
import { createOperation } from './operation.ts';
import { sharedResponses } from './responses.ts';
import { createSchemaWriter, type JsonObject } from './schema-writer.ts';

interface OpenApiOptions {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly license: { readonly name: string; readonly identifier: string };
  /** In the order in which they are shown. */
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  /** How callers prove who they are, by the names that contracts use (`securityOfContract`). */
  readonly securitySchemes: Readonly<Record<string, JsonObject>>;
  /** Schemas of several operations; they are written once, under these names. */
  readonly schemas: Readonly<Record<string, TSchema>>;
  /** Headers that every operation with a caller takes. */
  readonly callerHeaders?: TObject;
}

/**
 * Requests and answers of operations, under names that follow from theirs, so that generated code has stable names. A
 * schema that has a name already keeps it.
 */
function namedSchemas(contracts: readonly Contract[], given: Readonly<Record<string, TSchema>>) {
  const schemas: Record<string, TSchema> = { ...given };
  const known = new Set<TSchema>(Object.values(given));
  const name = (schema: TSchema | undefined, as: string): void => {
    if (schema === undefined || known.has(schema)) return;
    known.add(schema);
    schemas[as] = schema;
  };
  for (const { operationId, body, success } of contracts) {
    const operation = operationId.charAt(0).toUpperCase() + operationId.slice(1);
    if (body?.kind === 'bytes') name(body.document?.schema, `${operation}Body`);
    else name(body?.schema, `${operation}Body`);
    if (success.kind !== 'text' && success.kind !== 'none') name(success.schema, `${operation}Answer`);
  }
  return schemas;
}

const rpcSchemas = (contracts: readonly Contract[]): Readonly<Record<string, TSchema>> =>
  contracts.some(({ errors }) => errors.some(({ rpc }) => rpc !== undefined)) ? { RpcError: rpcErrorSchema } : {};

/** An OpenAPI 3.1 document of operations: plain JSON, the same for the same contracts. */
export function createOpenApiDocument(contracts: readonly Contract[], options: OpenApiOptions): JsonObject {
  const { title, version, description, license, tags, securitySchemes } = options;
  const writer = createSchemaWriter(
    namedSchemas(contracts, { ...options.schemas, Error: errorSchema, ...rpcSchemas(contracts) }),
  );
  const paths: Record<string, JsonObject> = {};
  for (const contract of contracts) {
    const operation = createOperation(contract, writer, options.callerHeaders);
    paths[contract.path] = { ...paths[contract.path], [contract.method]: operation };
  }
  return {
    openapi: '3.1.1',
    info: { title, version, description, license },
    servers: [{ url: '/' }],
    tags,
    paths,
    components: { schemas: writer.components(), responses: sharedResponses(writer), securitySchemes },
  };
}
