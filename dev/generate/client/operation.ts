import type { ClientSchema } from './schema-type.ts';

/** The parts of an OpenAPI 3.1 document that the client is made of. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, ClientSchema>> };
}

interface OpenApiOperation {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly OpenApiParameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, OpenApiResponse>>;
}

/** `$ref`: one of the answers that many operations have. */
interface OpenApiResponse {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Content;
}

interface OpenApiParameter {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: ClientSchema;
}

/** `x-last-events` names the events that end a stream. */
export type Content = Readonly<
  Record<string, { readonly schema?: ClientSchema; readonly 'x-last-events'?: readonly string[] }>
>;

/** One parameter of a method: its name there, and its name and place in the request. */
interface Parameter {
  readonly name: string;
  readonly wireName: string;
  readonly place: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description: string | undefined;
  readonly schema: ClientSchema;
}

/** An operation in the terms of a method. */
export interface ClientMethod {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly source: OpenApiOperation;
  readonly bearer: boolean;
  readonly parameters: readonly Parameter[];
  readonly body: { readonly mediaType: string; readonly required: boolean; readonly schema: ClientSchema } | undefined;
  readonly reply: {
    readonly kind: 'json' | 'events' | 'bytes' | 'none';
    readonly schema: ClientSchema;
    readonly lastEvents?: readonly string[];
  };
}

const methods = ['get', 'put', 'post', 'delete', 'patch'];

/** Headers that the client itself sets for every call. */
const headersOfTheClient = new Set(['authorization', 'x-tenant-id', 'x-request-id']);

/** Every operation of the document, in its order. Throws where two parameters of one would have the same name. */
export function operationsOf(document: OpenApiDocument): ClientMethod[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const source = item[method];
      return source === undefined ? [] : [operationOf(method, path, source)];
    }),
  );
}

function operationOf(method: string, path: string, source: OpenApiOperation): ClientMethod {
  const parameters = (source.parameters ?? []).filter(isForCaller).map(parameterOf);
  assertDistinct(source.operationId, [...parameters.map(({ name }) => name), 'body']);
  return {
    id: source.operationId,
    method: method.toUpperCase(),
    path,
    source,
    bearer: (source.security ?? []).some((scheme) => Object.hasOwn(scheme, 'bearer')),
    parameters,
    body: bodyOf(source),
    reply: replyOf(source),
  };
}

function isForCaller({ in: place, name }: OpenApiParameter): boolean {
  return place !== 'header' || !headersOfTheClient.has(name.toLowerCase());
}

function parameterOf({ in: place, name, required, description, schema }: OpenApiParameter): Parameter {
  if (place !== 'path' && place !== 'query' && place !== 'header') throw new Error(`parameter ${name} is in ${place}`);
  const own = place === 'header' ? camelCase(name.toLowerCase().replace(/^x-/, '')) : name;
  return { name: own, wireName: name, place, required: required === true, description, schema };
}

function camelCase(name: string): string {
  return name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function assertDistinct(operation: string, names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`two parameters of ${operation} are called ${twice}`);
}

function bodyOf({ requestBody }: OpenApiOperation): ClientMethod['body'] {
  if (requestBody === undefined) return undefined;
  const { required = false, content } = requestBody;
  const [mediaType, media] = firstOf(content, ['application/yaml', 'application/json']);
  // A body that is no JSON is sent as given, whatever document the text holds.
  const schema = mediaType === 'application/json' ? (media.schema ?? {}) : { type: 'string' };
  return { mediaType, required, schema };
}

function replyOf({ operationId, responses }: OpenApiOperation): ClientMethod['reply'] {
  if (responses['200'] === undefined && responses['204'] !== undefined) return { kind: 'none', schema: {} };
  const content = responses['200']?.content;
  if (content === undefined) throw new Error(`${operationId} has no content under 200`);
  const [mediaType, { schema = {}, 'x-last-events': lastEvents }] = firstOf(content, [
    'application/json',
    'text/event-stream',
  ]);
  if (mediaType === 'application/json') return { kind: 'json', schema };
  if (mediaType !== 'text/event-stream') return { kind: 'bytes', schema };
  // The schema is that of an event's lines; what matters is the JSON in its data.
  return { kind: 'events', schema: schema.properties?.['data']?.contentSchema ?? {}, lastEvents };
}

function firstOf(content: Content, preferred: readonly string[]): [mediaType: string, media: Content[string]] {
  const known = Object.entries(content);
  const found = preferred.flatMap((mediaType) => known.filter(([name]) => name === mediaType))[0] ?? known[0];
  if (found === undefined) throw new Error('a body without a media type');
  return found;
}
