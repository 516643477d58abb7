import type { Operation, OperationRequest } from './operation.ts';

/** The headers that the options of a client add to each request. */
interface RequestContext {
  /** Address of the server, without a slash at its end. */
  readonly server: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly token: string | undefined;
  readonly tenant: string | undefined;
}

const accept: Readonly<Record<Operation['reply'], string>> = {
  json: 'application/json',
  events: 'text/event-stream',
  bytes: '*/*',
  none: '*/*',
};

/** The HTTP request of a call. Throws a TypeError where a parameter of the path is missing. */
export function httpRequest(operation: Operation, request: OperationRequest, context: RequestContext): Request {
  const url = `${context.server}${pathOf(operation, request)}${queryOf(operation, request)}`;
  const headers = headersOf(operation, request, context);
  const { body } = request;
  if (operation.mediaType === undefined || body === undefined)
    return new Request(url, { method: operation.method, headers });
  headers.set('content-type', operation.mediaType);
  const payload =
    operation.mediaType === 'application/json' ? JSON.stringify(body) : (body as string | Uint8Array<ArrayBuffer>);
  return new Request(url, { method: operation.method, headers, body: payload });
}

function pathOf({ path }: Operation, request: OperationRequest): string {
  return path.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => {
    const value = request[name];
    if (value === undefined || value === null || value === '') throw new TypeError(`${name} is missing for ${path}`);
    // A segment of dots would be resolved away, and another resource asked for.
    if (value === '.' || value === '..') throw new TypeError(`${name} must not be ${value}`);
    return encodeURIComponent(textOf(value));
  });
}

function queryOf({ query }: Operation, request: OperationRequest): string {
  const parameters = new URLSearchParams();
  for (const name of query) {
    const value = request[name];
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== null) parameters.append(name, textOf(each));
    }
  }
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}

function headersOf(operation: Operation, request: OperationRequest, context: RequestContext): Headers {
  const headers = new Headers({ accept: accept[operation.reply], ...context.headers });
  if (operation.bearer && context.token !== undefined) headers.set('authorization', `Bearer ${context.token}`);
  if (operation.bearer && context.tenant !== undefined) headers.set('x-tenant-id', context.tenant);
  for (const [name, header] of Object.entries(operation.headers)) {
    const value = request[name];
    if (value !== undefined && value !== null) headers.set(header, textOf(value));
  }
  return headers;
}

/** Parameters are text, numbers and truth values. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
