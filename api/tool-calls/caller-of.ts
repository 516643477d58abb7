import type { ToolCall } from '../../crds/schema/tool-call.ts';
import { parseDuration } from '../../lib/duration.ts';
import { instantAfter } from '../../lib/instant.ts';
import type { KubeClient } from '../../lib/kube/index.ts';
import { fleetScopes } from '../../lib/tools/fleet-rights.ts';
import { requireTenant } from '../../lib/tenant/require-tenant.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import { readSecurityContext } from '../../lib/agent/security-context.ts';
import type { RegisteredCaller } from '../agents/registered/index.ts';

interface CallerDeps {
  readonly kube: Pick<KubeClient, 'get'>;
  readonly tenants: Pick<TenantDirectory, 'tenantOf'>;
}

/**
 * Whose tool call that of a state is: it acts for the user who started the execution, within a SecurityContext of the
 * namespace that the execution runs in. Its author gains no more than the context gives.
 * @throws AppError with the reason `SecurityContextNotFound` or `NotATenant`.
 */
export async function callerOf(
  { kube, tenants }: CallerDeps,
  { metadata, spec, status }: ToolCall,
): Promise<RegisteredCaller> {
  const { namespace = '', uid = '' } = metadata;
  const tenant = requireTenant(tenants, namespace);
  const place = { namespace, field: 'env.security_context' };
  const { context, security } = await readSecurityContext(kube, spec.security_context, place);
  const begunAt = Date.parse(status?.claim?.at ?? metadata.creationTimestamp ?? '');
  return {
    tenant,
    namespace,
    subject: spec.subject,
    executionId: spec.parent.uid,
    callId: uid,
    deadline: instantAfter(begunAt, parseDuration(spec.timeout, { field: 'timeout' })),
    security,
    // The writer of the workflow holds the right to tools of hosts that it calls (ADR 0096).
    scopes: fleetScopes,
    mounts: [],
    signer: { session: `call-${uid}`, name: spec.subject, context, tools: [spec.tool] },
  };
}
