import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../lib/errors.ts';
import type { Check } from '../lib/process/health-server.ts';
import type { Caller } from './identity/caller.ts';
import type { RoutesDeps } from './routes/index.ts';
import type { ApiDeps } from './run-api.ts';

/** What the routes stand on, and what has a life of its own: caches, connections, sensors. */
export interface Services {
  readonly routes: RoutesDeps;
  readonly authenticate: (headers: IncomingHttpHeaders) => Promise<Caller>;
  readonly ready: Readonly<Record<string, Check>>;
  /** Resolves when requests can be answered, or when `stop` aborts. */
  start(stop: AbortSignal): Promise<void>;
  /** Ends everything; nothing is asked of the services any more. */
  close(): Promise<void>;
}

export function createServices(_deps: ApiDeps): Services {
  return {
    routes: {},
    authenticate: () => Promise.reject(new AppError('unauthenticated', 'no identity provider is configured')),
    ready: {},
    start: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
