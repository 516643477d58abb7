import type { Route } from '../../../lib/http/index.ts';
import type { Caller } from '../../../lib/identity/index.ts';
import { createSealInvokeRoutes, type SealInvokeDeps } from './invoke.ts';
import { createSealTokenRoute, type SealTokenDeps } from './token.ts';

export { contracts } from './contract.ts';

export type SealRoutesDeps = SealInvokeDeps & SealTokenDeps;

/** Signed calls of tools, and tokens for sessions of the tool gateway. */
export function createSealRoutes(deps: SealRoutesDeps): Route<Caller>[] {
  return [...createSealInvokeRoutes(deps), createSealTokenRoute(deps)];
}
