import type { SecurityContextSpec } from '../../crds/schema/agent.ts';
import { defaultContext } from '../../lib/agent/security-context.ts';
import { AppError } from '../../lib/errors.ts';
import { securityContexts } from '../../lib/kinds.ts';
import { findObject, type KubeClient } from '../../lib/kube/index.ts';
import { visiblePlaces } from '../../lib/tenant/visible-places.ts';

/** A SecurityContext with its name. */
export interface NamedSecurity {
  readonly context: string;
  readonly security: SecurityContextSpec;
}

interface Place {
  readonly namespace: string;
  /** Where it is named, for the message. */
  readonly field: string;
}

/**
 * That of the execution's own namespace, so that the tenant that runs a global agent or workflow bounds it, or else the
 * shared one, as the tool gateway does for sessions (ADR 0054).
 * @throws AppError with the reason `SecurityContextNotFound` where one is named and is not there.
 */
export async function readSecurityContext(
  kube: Pick<KubeClient, 'get'>,
  named: string | undefined,
  { namespace, field }: Place,
): Promise<NamedSecurity> {
  const context = named ?? defaultContext;
  for (const place of visiblePlaces(namespace)) {
    const found = await findObject(kube, securityContexts, { namespace: place, name: context });
    if (found !== undefined) return { context, security: found.spec };
  }
  if (named === undefined) return { context, security: {} };
  const message = `${field}: there is no SecurityContext ${named} in the namespace, and no shared one; make it`;
  throw new AppError('not_found', message, { reason: 'SecurityContextNotFound' });
}
