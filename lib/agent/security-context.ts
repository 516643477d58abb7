import type { SecurityContext, SecurityContextSpec } from '../../crds/schema/security-context.ts';
import { unlessBeingDeleted } from '../being-deleted.ts';
import { AppError } from '../errors.ts';
import { securityContexts } from '../kinds.ts';
import { findObject, type KubeClient } from '../kube/index.ts';
import { visiblePlaces } from '../tenant/visible-places.ts';

/** The context of agents and sessions that name none. It need not exist: then every tool may be called, and nothing is allowed beside. */
export const defaultContext = 'default';

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

/** The context of this name in the first of the namespaces that has one; one that is being deleted counts as gone. */
export async function findSecurityContext(
  kube: Pick<KubeClient, 'get'>,
  name: string,
  namespaces: readonly string[],
): Promise<SecurityContext | undefined> {
  for (const namespace of namespaces) {
    const found = unlessBeingDeleted(await findObject(kube, securityContexts, { namespace, name }));
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * That of the execution's own namespace, or else the shared one, as the tool gateway does for sessions (ADR 0054). So
 * the tenant that runs a global agent or workflow bounds it. @throws AppError with the reason `SecurityContextNotFound`
 * where one is named and is not there.
 */
export async function readSecurityContext(
  kube: Pick<KubeClient, 'get'>,
  named: string | undefined,
  { namespace, field }: Place,
): Promise<NamedSecurity> {
  const context = named ?? defaultContext;
  const found = await findSecurityContext(kube, context, visiblePlaces(namespace));
  if (found !== undefined) return { context, security: found.spec };
  if (named === undefined) return { context, security: {} };
  const message = `${field}: there is no SecurityContext ${named} in the namespace, and no shared one; make it`;
  throw new AppError('not_found', message, { reason: 'SecurityContextNotFound' });
}
