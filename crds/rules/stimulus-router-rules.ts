import type { CelRule } from '../schema/parts.ts';

/** A router that does nothing is a mistake. The names of sources are checked by an admission policy, which can tell them. */
export const stimulusRouterRules: CelRule[] = [
  {
    rule: '(has(self.routes) && self.routes.size() > 0) || has(self.router_agent)',
    message: 'needs at least one route, or a router_agent',
  },
];
