import type { Route } from '../../../lib/http/index.ts';
import type { Caller } from '../../../lib/identity/caller.ts';
import { type AgainDeps, createAgainRoutes } from './again/index.ts';
import { type CancelDeps, createCancelRoute } from './cancel/index.ts';
import { createDeleteRoute, type DeleteDeps } from './delete/index.ts';
import type { ArchivedExecutions } from '../archived.ts';
import { createListRoute } from './list/index.ts';
import { createLogsRoute, type LogsDeps } from './logs/index.ts';
import { createReadRoute, type ReadDeps } from './read/index.ts';
import { createSignalRoute, type SignalDeps } from './signal/index.ts';
import { createStartRoute, type StartDeps } from './start/index.ts';
import { createStreamRoute, type StreamDeps } from './stream/index.ts';

export { contracts } from './contract.ts';

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
