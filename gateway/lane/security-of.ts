import type { SecurityContext, SecurityContextSpec } from '../../crds/schema/security-context.ts';
import { defaultContext } from '../../lib/agent/security-context.ts';
import { unlessBeingDeleted } from '../../lib/being-deleted.ts';
import type { Tenancy } from '../identity/tenancy.ts';

/** Finds the security context of a session; undefined where there is none of that name. */
export type SecurityOf = (tenant: string | undefined, name: string) => SecurityContextSpec | undefined;

interface SecurityDeps {
  readonly contexts: { get(key: string): SecurityContext | undefined };
  readonly tenancy: Pick<Tenancy, 'visibleTo'>;
}

/** The tenant's own context wins over a shared one of the same name, as for agents (ADR 0054). One that is being deleted is none. */
export function createSecurityOf({ contexts, tenancy }: SecurityDeps): SecurityOf {
  return (tenant, name) => {
    for (const namespace of tenancy.visibleTo(tenant)) {
      const found = unlessBeingDeleted(contexts.get(`${namespace}/${name}`));
      if (found !== undefined) return found.spec;
    }
    return name === defaultContext ? {} : undefined;
  };
}
