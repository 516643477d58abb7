import type { Contract, ErrorContract, SuccessContract } from '../contract.ts';
import { errorCode } from '../error-reply.ts';
import { errorsOf, sharedErrors } from '../shared-errors.ts';
import { successStatuses } from '../success-statuses.ts';
import { errorSchema, rpcErrorSchema } from './error-schema.ts';
import { pascalCase } from './pascal-case.ts';
import type { JsonObject, SchemaWriter } from './schema-writer.ts';

const shared: ReadonlySet<ErrorContract> = new Set(sharedErrors);

/** Every answer of an operation by its status, each error with an example. */
export function createResponses(contract: Contract, writer: SchemaWriter): JsonObject {
  const byStatus = Map.groupBy(errorsOf(contract), ({ status }) => status);
  const errors = [...byStatus].map(([status, list]) => {
    const [first] = list;
    const isShared = list.length === 1 && first !== undefined && shared.has(first);
    const response = isShared ? { $ref: `#/components/responses/${nameOf(first)}` } : errorResponse(list, writer);
    return [String(status), response];
  });
  const { success } = contract;
  const done = [...successStatuses(contract)].map(([status, description]) => [
    status,
    success.kind === 'none' || status !== 200
      ? bodilessResponse(status, description)
      : successResponse(success, writer),
  ]);
  return Object.fromEntries([...done, ...errors]);
}

/** The answers that operations refer to. */
export function sharedResponses(writer: SchemaWriter): JsonObject {
  return Object.fromEntries(sharedErrors.map((error) => [nameOf(error), errorResponse([error], writer)]));
}

const nameOf = ({ error }: ErrorContract): string => pascalCase(error);

const requestId = {
  'X-Request-Id': {
    description: 'Names the request in logs; what the client sent under this name, where that is short and plain.',
    schema: { type: 'string' },
  },
};

type SuccessWithBody = Exclude<SuccessContract, { readonly kind: 'none' }>;

function successResponse(success: SuccessWithBody, writer: SchemaWriter): JsonObject {
  const { description, example } = success;
  const answer = (mediaType: string, content: JsonObject): JsonObject => ({
    description,
    headers: { ...requestId, ...ownHeaders(success) },
    content: { [mediaType]: { ...content, example } },
  });
  switch (success.kind) {
    case 'json':
      return answer('application/json', { schema: writer.write(success.schema) });
    case 'text':
      return answer(success.mediaType, { schema: { type: 'string' } });
    case 'events':
      return answer('text/event-stream', {
        schema: eventSchema(writer.write(success.schema)),
        ...(success.lastEvents === undefined ? {} : { 'x-last-events': success.lastEvents }),
      });
  }
}

function ownHeaders(success: SuccessWithBody): JsonObject {
  const own = success.kind === 'events' ? (success.headers ?? {}) : {};
  return Object.fromEntries(
    Object.entries(own).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  );
}

const location = { Location: { description: 'The page.', schema: { type: 'string' } } };

const bodilessResponse = (status: number, description: string): JsonObject => ({
  description,
  headers: { ...requestId, ...(status === 302 ? location : {}) },
});

/** One event as the fields of its lines; tools hold each event of a stream against it. */
const eventSchema = (data: JsonObject): JsonObject => ({
  type: 'object',
  required: ['data'],
  properties: {
    id: { type: 'string', description: 'The Last-Event-ID with which to continue behind this event.' },
    data: { type: 'string', contentMediaType: 'application/json', contentSchema: data },
  },
});

const seconds = { description: 'Seconds to wait before the next attempt.', schema: { type: 'integer' } };

const headersOf: Readonly<Record<number, JsonObject>> = {
  401: { 'WWW-Authenticate': { description: 'How to prove who calls.', schema: { type: 'string' } } },
  429: { 'Retry-After': seconds },
  503: { 'Retry-After': seconds },
};

const wordOf = ({ error, rpc }: ErrorContract): string => (rpc === undefined ? error : String(rpc));

/** `errors` are of one status. */
function errorResponse(errors: readonly ErrorContract[], writer: SchemaWriter): JsonObject {
  const schemas = errors.map(({ fields, rpc }) => {
    if (rpc !== undefined) return writer.write(rpcErrorSchema);
    const error = writer.write(errorSchema);
    return fields === undefined ? error : { allOf: [error, writer.write(fields)] };
  });
  const variants = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
  const examples = [...Map.groupBy(errors, wordOf)].map(([word, causes]) => {
    const summary = causes.map(({ when }) => when).join(' ');
    const rpc = causes[0]?.rpc;
    const value =
      rpc === undefined
        ? { error: word, code: errorCode(word), message: summary }
        : { jsonrpc: '2.0', id: 1, error: { code: rpc, message: summary, data: null } };
    return [word, { summary, value }];
  });
  return {
    description: errors.map((error) => `\`${wordOf(error)}\`: ${error.when}`).join('\n\n'),
    headers: { ...requestId, ...headersOf[errors[0]?.status ?? 0] },
    content: {
      'application/json': {
        schema: variants.length === 1 ? variants[0] : { anyOf: variants },
        examples: Object.fromEntries(examples),
      },
    },
  };
}
