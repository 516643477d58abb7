import type { Route } from '../../../lib/http/index.ts';
import type { Caller } from '../../../lib/identity/caller.ts';
import { type AgainDeps, createAgainRoutes } from './again/handler.ts';
import { type CancelDeps, createCancelRoute } from './cancel/handler.ts';
import { createDeleteRoute, type DeleteDeps } from './delete/handler.ts';
import type { ArchivedExecutions } from '../archived.ts';
import { createListRoute } from './list/handler.ts';
import { createLogsRoute, type LogsDeps } from './logs/handler.ts';
import { createReadRoute, type ReadDeps } from './read/handler.ts';
import { createSignalRoute, type SignalDeps } from './signal/handler.ts';
import { createStartRoute, type StartDeps } from './start/handler.ts';
import { createStreamRoute, type StreamDeps } from './stream/handler.ts';

export { contracts } from './contracts.ts';

type ExecutionRoutesDeps = StartDeps &
  ReadDeps &
  CancelDeps &
  SignalDeps &
  StreamDeps &
  LogsDeps &
  AgainDeps &
  DeleteDeps & { readonly archived: ArchivedExecutions };

/** The routes of executions. */
export function createExecutionRoutes(deps: ExecutionRoutesDeps): Route<Caller>[] {
  return [
    createStartRoute(deps),
    createListRoute(deps),
    createReadRoute(deps),
    createCancelRoute(deps),
    createSignalRoute(deps),
    createStreamRoute(deps),
    createLogsRoute(deps),
    ...createAgainRoutes(deps),
    createDeleteRoute(deps),
  ];
}
