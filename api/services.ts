import type { IncomingHttpHeaders } from 'node:http';
import type { Check } from '../lib/process/health-server.ts';
import { type Caller, createAuthentication } from './identity/index.ts';
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

export function createServices(deps: ApiDeps): Services {
  const authentication = createAuthentication(deps, deps.config);
  return {
    routes: {},
    authenticate: (headers) => authentication.authenticate(headers),
    ready: {},
    async start() {
      // A provider that is away keeps nobody from webhooks and health.
      void authentication.prepare();
    },
    close: () => authentication.close(),
  };
}
