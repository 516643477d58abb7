import { indented } from './indent.ts';
import { type OpenApiDocument, type ClientMethod, operationsOf } from './operation.ts';
import { docComment, propertyName, schemaType } from './schema-type.ts';

const header =
  '// Generated from the OpenAPI document by "npm run generate". Change the sources there, not this file.\n';

/**
 * The generated part of the client: the types of the document, one method for each operation, and the table of
 * operations that the runtime reads. The same document gives the same text.
 */
export function clientFile(document: OpenApiDocument): string {
  const operations = operationsOf(document);
  const own = operations.flatMap((operation) => [requestType(operation), replyType(operation)]);
  const parts = [
    header,
    `import type { ${importedTypes(operations).join(', ')} } from '../operation.ts';\n`,
    ...componentTypes(document, own),
    ...own,
    methodsInterface(operations),
    operationTable(operations),
  ];
  return indented(parts.filter((part) => part !== '').join('\n'));
}

function importedTypes(operations: readonly ClientMethod[]): string[] {
  const replies = new Set(operations.map(({ reply }) => reply.kind));
  return [
    ...(replies.has('bytes') ? ['ByteStream'] : []),
    'CallOptions',
    'Operation',
    ...(replies.has('events') ? ['ServerEvent'] : []),
  ];
}

/** The schemas that requests and replies are made of, directly or through one another. */
function componentTypes({ components }: OpenApiDocument, users: readonly string[]): string[] {
  const texts = new Map(
    Object.entries(components?.schemas ?? {}).map(([name, schema]) => [
      name,
      `${docComment(schema.description)}export type ${name} = ${schemaType(schema)};\n`,
    ]),
  );
  const needed = new Set<string>();
  const add = (text: string): void => {
    for (const [name, own] of texts) {
      if (needed.has(name) || !new RegExp(`(?<!")\\b${name}\\b(?!")`).test(withoutComments(text))) continue;
      needed.add(name);
      add(own);
    }
  };
  for (const text of users) add(text);
  return [...texts].filter(([name]) => needed.has(name)).map(([, text]) => text);
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*\*.*?\*\//gs, '');
}

function requestType(operation: ClientMethod): string {
  if (!takesRequest(operation)) return '';
  const { id, parameters, body } = operation;
  const fields = parameters.map(({ name, required, description, schema }) => {
    return `${docComment(description)}readonly ${propertyName(name)}${required ? '' : '?'}: ${schemaType(schema)};\n`;
  });
  if (body !== undefined) fields.push(`readonly body${body.required ? '' : '?'}: ${bodyType(body)};\n`);
  return `/** Arguments of {@link Operations.${id}}. */\nexport interface ${typeName(id)}Request {\n${fields.join('')}}\n`;
}

function bodyType({ mediaType, schema }: NonNullable<ClientMethod['body']>): string {
  if (mediaType === 'application/json') return schemaType(schema);
  return mediaType.startsWith('text/') || mediaType.endsWith('yaml') ? 'string' : 'Uint8Array | string';
}

function replyType({ id, reply }: ClientMethod): string {
  if (reply.kind === 'bytes' || reply.kind === 'none') return '';
  const what = reply.kind === 'events' ? 'Data of an event of' : 'Body of the answer of';
  const name = `${typeName(id)}${reply.kind === 'events' ? 'Event' : 'Reply'}`;
  return `/** ${what} {@link Operations.${id}}. */\nexport type ${name} = ${schemaType(reply.schema)};\n`;
}

function methodsInterface(operations: readonly ClientMethod[]): string {
  const methods = operations.map((operation) => `${docComment(documentation(operation))}${signature(operation)}\n`);
  return `/** Every operation of the API, as a method. */\nexport interface Operations {\n${methods.join('')}}\n`;
}

function signature(operation: ClientMethod): string {
  const optional = isOptional(operation) ? '?' : '';
  const request = takesRequest(operation) ? [`request${optional}: ${typeName(operation.id)}Request`] : [];
  return `${operation.id}(${[...request, 'options?: CallOptions'].join(', ')}): ${returned(operation)};`;
}

function returned({ id, reply }: ClientMethod): string {
  if (reply.kind === 'json') return `Promise<${typeName(id)}Reply>`;
  if (reply.kind === 'none') return 'Promise<void>';
  return reply.kind === 'events' ? `AsyncIterable<ServerEvent<${typeName(id)}Event>>` : 'Promise<ByteStream>';
}

/** Summary, description, where it is, and how it can fail in ways of its own. */
function documentation({ method, path, source, reply }: ClientMethod): string {
  const failures = Object.entries(source.responses)
    .filter(
      ([status, { $ref }]) => status !== '200' && (status !== '204' || reply.kind !== 'none') && $ref === undefined,
    )
    .map(([status, { description }]) => `- ${status} ${(description ?? '').replaceAll(/\s+/g, ' ')}`.trimEnd());
  const parts = [source.summary, source.description, `\`${method} ${path}\``, failures.join('\n')];
  const tags = source.deprecated ? ['@deprecated'] : [];
  return [...parts, ...tags].filter(Boolean).join('\n\n');
}

function takesRequest({ parameters, body }: ClientMethod): boolean {
  return parameters.length > 0 || body !== undefined;
}

function isOptional({ parameters, body }: ClientMethod): boolean {
  return parameters.every(({ required }) => !required) && body?.required !== true;
}

function typeName(id: string): string {
  return id.slice(0, 1).toUpperCase() + id.slice(1);
}

function operationTable(operations: readonly ClientMethod[]): string {
  const rows = operations.map((operation) => `${operation.id}: ${JSON.stringify(row(operation))},\n`);
  return `/** Facts of each operation for the runtime. */\nexport const operations: Readonly<Record<keyof Operations, Operation>> = {\n${rows.join('')}};\n`;
}

function row({ method, path, bearer, parameters, body, reply }: ClientMethod): object {
  const names = (place: string): Record<string, string> =>
    Object.fromEntries(parameters.filter((each) => each.place === place).map(({ name, wireName }) => [name, wireName]));
  return {
    method,
    path,
    bearer,
    query: Object.keys(names('query')),
    headers: names('header'),
    ...(body === undefined
      ? {}
      : { mediaType: body.mediaType === '*/*' ? 'application/octet-stream' : body.mediaType }),
    reply: reply.kind,
    ...(reply.lastEvents === undefined ? {} : { lastEvents: reply.lastEvents }),
  };
}
