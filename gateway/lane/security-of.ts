import type { SecurityContext, SecurityContextSpec } from '../../crds/schema/agent.ts';
import type { Tenancy } from '../identity/tenancy.ts';

/** Finds the security context of a session; undefined where there is none of that name. */
export type SecurityOf = (tenant: string | undefined, name: string) => SecurityContextSpec | undefined;

interface SecurityDeps {
  readonly contexts: { get(key: string): SecurityContext | undefined };
  readonly tenancy: Pick<Tenancy, 'visibleTo'>;
}

/** As with agents: it need not exist, and then every tool may be called and nothing is allowed beside. */
const defaultContext = 'default';

/** The tenant's own context wins over a shared one of the same name. */
export function createSecurityOf({ contexts, tenancy }: SecurityDeps): SecurityOf {
  return (tenant, name) => {
    for (const namespace of tenancy.visibleTo(tenant)) {
      const found = contexts.get(`${namespace}/${name}`);
      if (found !== undefined) return found.spec;
    }
    return name === defaultContext ? {} : undefined;
  };
}
