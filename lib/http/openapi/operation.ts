import type { TObject, TSchema } from 'typebox';
import { parse } from 'yaml';
import { type BodyContract, type Contract, securityOfContract } from '../contract.ts';
import { defaultMaxBytes } from '../read-body.ts';
import { createResponses } from './responses.ts';
import type { JsonObject, SchemaWriter } from './schema-writer.ts';

/** One operation of the document. */
export function createOperation(contract: Contract, writer: SchemaWriter, callerHeaders?: TObject): JsonObject {
  const { operationId, tag, summary, description, access, body } = contract;
  const schemes = securityOfContract(contract);
  const parameters = [
    ...parametersIn('path', contract.params, writer),
    ...parametersIn('query', contract.query, writer),
    ...parametersIn('header', contract.headers, writer),
    ...(access === 'bearer' ? parametersIn('header', callerHeaders, writer) : []),
  ];
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    security: schemes.length === 0 ? [] : [Object.fromEntries(schemes.map((scheme) => [scheme, []]))],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: requestBody(body, writer) }),
    responses: createResponses(contract, writer),
  };
}

function parametersIn(place: 'path' | 'query' | 'header', schema: TObject | undefined, writer: SchemaWriter) {
  const required = new Set(schema?.required ?? []);
  return Object.entries<TSchema>(schema?.properties ?? {}).map(([name, property]) => {
    const { description, ...rest } = writer.write(property);
    const isRequired = place === 'path' || (required.has(name) && rest['default'] === undefined);
    return {
      name,
      in: place,
      required: isRequired,
      ...(description === undefined ? {} : { description }),
      schema: rest,
    };
  });
}

function requestBody(body: BodyContract, writer: SchemaWriter): JsonObject {
  const description = `At most ${Math.floor((body.maxBytes ?? defaultMaxBytes) / 1024)} KiB.`;
  switch (body.kind) {
    case 'json':
      return {
        required: body.required !== false,
        description,
        content: { 'application/json': { schema: writer.write(body.schema), example: body.example } },
      };
    case 'text':
      return {
        required: true,
        description,
        content: Object.fromEntries(body.mediaTypes.map((mediaType) => [mediaType, textContent(body, writer)])),
      };
    case 'bytes':
      if (body.document !== undefined) return documentBody(body.document, description, writer);
      // Tools that know no wildcard find a type that they can send.
      return { required: false, description, content: { 'application/octet-stream': binary, '*/*': binary } };
  }
}

function documentBody(
  { schema, example }: { readonly schema: TObject; readonly example: unknown },
  description: string,
  writer: SchemaWriter,
): JsonObject {
  return { required: true, description, content: { 'application/json': { schema: writer.write(schema), example } } };
}

const binary = { schema: { type: 'string', format: 'binary' } };

/** Text that holds a document is described as that document: what a tool makes of it, it writes as the media type says. */
function textContent({ schema, example }: Extract<BodyContract, { kind: 'text' }>, writer: SchemaWriter): JsonObject {
  if (schema === undefined) return { schema: { type: 'string' }, example };
  return { schema: writer.write(schema), example: parse(example) as unknown };
}
