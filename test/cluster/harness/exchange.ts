/** One request of a client to the API server, as the proxy saw it. */
export interface Exchange {
  /** Counts from 1 in the order of arrival. */
  readonly id: number;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly userAgent: string;
  /** The client's body; empty for reads. */
  readonly body: Buffer;
  /** Milliseconds since the Unix epoch. */
  readonly arrivedAt: number;
  /** The answer to the client; absent while under way or after a reset. */
  status?: number;
}

/** How the API server counts a request: `watch` and `log` are long reads, the writes have names of their own. */
export type Verb = 'get' | 'list' | 'watch' | 'log' | 'exec' | 'create' | 'update' | 'patch' | 'delete';

const VERB_OF_METHOD: Readonly<Record<string, Verb>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Path of an object of the API, taken apart. */
interface ApiPath {
  /** Empty for the core group. */
  readonly group: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

/** Reads `/api/v1/…` and `/apis/GROUP/VERSION/…`; undefined for other paths, such as `/version`. */
export function apiPathOf(path: string): ApiPath | undefined {
  const parts = path.split('/').slice(1).map(decodeURIComponent);
  const rest = parts[0] === 'api' ? parts.slice(2) : parts[0] === 'apis' ? parts.slice(3) : [];
  const group = parts[0] === 'apis' ? (parts[1] ?? '') : '';
  if (rest[0] === undefined) return undefined;
  if (rest[0] !== 'namespaces' || rest[2] === undefined) {
    return { group, resource: rest[0], name: rest[1], subresource: rest[2] };
  }
  return { group, namespace: rest[1], resource: rest[2], name: rest[3], subresource: rest[4] };
}

export function verbOf(exchange: Pick<Exchange, 'method' | 'path' | 'query'>): Verb {
  const verb = VERB_OF_METHOD[exchange.method];
  const at = apiPathOf(exchange.path);
  if (at?.subresource === 'exec') return 'exec';
  if (verb !== undefined) return verb;
  if (exchange.query.get('watch') === 'true' || exchange.query.get('watch') === '1') return 'watch';
  if (at?.subresource === 'log') return 'log';
  return at?.name === undefined ? 'list' : 'get';
}

/** Whether the request changes something. Reviews (who am I, may I) are questions in the shape of a create. */
export function isWrite(exchange: Exchange): boolean {
  if (VERB_OF_METHOD[exchange.method] === undefined) return false;
  return apiPathOf(exchange.path)?.resource.endsWith('reviews') !== true;
}

/** Lease renewals continue for as long as a controller lives and belong to no execution. */
export function isLease(exchange: Exchange): boolean {
  return apiPathOf(exchange.path)?.resource === 'leases';
}

/** `patch workflowexecutions/status team-a/build-1`: for messages and counts. */
export function describe(exchange: Exchange): string {
  const at = apiPathOf(exchange.path);
  if (at === undefined) return `${exchange.method} ${exchange.path}`;
  const what = at.subresource === undefined ? at.resource : `${at.resource}/${at.subresource}`;
  const object = [at.namespace, at.name].filter((part) => part !== undefined).join('/');
  return `${verbOf(exchange)} ${what} ${object}`.trim();
}
