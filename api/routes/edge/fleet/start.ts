import { annotations, apiVersion } from '../../../../crds/labels.ts';
import type { FleetRun } from '../../../../crds/schema/fleet-run.ts';
import { defined } from '../../../../lib/defined.ts';
import { canonicalHash } from '../../../../lib/definition/canonical.ts';
import { checkArgs } from '../../../../lib/fleet/args.ts';
import type { RequestBodyOf } from '../../../../lib/http/contract.ts';
import { HttpError } from '../../../../lib/http/index.ts';
import type { Caller } from '../../../../lib/identity/index.ts';
import { shortHash } from '../../../../lib/ids.ts';
import { fleetRuns } from '../../../../lib/kinds.ts';
import { findObject, isAlreadyExists } from '../../../../lib/kube/index.ts';
import { assertSameRequest } from '../../executions/start/create-execution.ts';
import { notFound, unknownTenant } from '../../not-found.ts';
import { writeRefusal } from '../../write-refusal.ts';
import { notFleetCapable } from '../errors.ts';
import type { invokeFleet } from './contract.ts';
import type { FleetDeps } from './ports.ts';
import { groupOf, targetOf } from './preview.ts';

type FleetRequest = RequestBodyOf<typeof invokeFleet>;

/** The request of a run, its caller and its key. */
interface Ask {
  readonly caller: Pick<Caller, 'subject' | 'tenant'>;
  readonly body: FleetRequest;
  readonly key?: string | undefined;
}

/**
 * Makes the run; the controllers do the rest. The same key gives the same run.
 * @throws HttpError 400, 404, 409, 422 in the words of the contract.
 */
export async function startRun(deps: FleetDeps, { caller, body, key }: Ask): Promise<FleetRun> {
  const { cluster, audit } = deps;
  await assertFleetCapable(deps, caller.tenant, body);
  checkArgs(body.args);
  await groupOf(deps, caller.tenant, body.target);
  const namespace = cluster.tenants.namespaceOf(caller.tenant);
  if (namespace === undefined) throw notFound(unknownTenant);
  const request = canonicalHash(body);
  const run = await create(deps, { caller, body, namespace, request, key });
  cluster.fleetRuns.remember(run);
  const doneAt = key === undefined ? undefined : run.metadata.creationTimestamp;
  const { uid: subject = '' } = run.metadata;
  audit.record({ type: 'FleetRunStarted', by: caller, subject, act: 'start', doneAt, data: { tool: body.tool } });
  return run;
}

/** AMB-108. A tool that the installation does not know is the hosts' own. */
async function assertFleetCapable(
  { fleetCapable }: Pick<FleetDeps, 'fleetCapable'>,
  tenant: string,
  { tool, target }: FleetRequest,
): Promise<void> {
  if (target.Node !== undefined || (await fleetCapable(tenant, tool))) return;
  throw new HttpError({ code: 'invalid', status: notFleetCapable.status, error: notFleetCapable.error });
}

interface Making extends Ask {
  readonly namespace: string;
  readonly request: string;
}

async function create({ kube, newId }: FleetDeps, making: Making): Promise<FleetRun> {
  const { caller, key, namespace, request } = making;
  const name = key === undefined ? `fleet-${newId()}` : `fleet-${shortHash(JSON.stringify([caller.subject, key]), 32)}`;
  try {
    return await kube.create(fleetRuns, runOf(making, name));
  } catch (error) {
    if (!isAlreadyExists(error)) throw writeRefusal(error, tooLarge) ?? error;
    const existing = await findObject(kube, fleetRuns, { namespace, name });
    if (existing === undefined) throw error;
    assertSameRequest(existing, request, caller);
    return existing;
  }
}

function runOf({ caller, body, namespace, request }: Making, name: string): FleetRun {
  const { target, tool, args, policy } = body;
  return {
    apiVersion,
    kind: 'FleetRun',
    metadata: {
      name,
      namespace,
      annotations: { [annotations.startedBy]: caller.subject, [annotations.request]: request },
    },
    spec: {
      target: targetOf(target),
      tool,
      requested_by: caller.subject,
      ...defined({ args, policy }),
    } as FleetRun['spec'],
  };
}

const tooLarge = (cause: unknown): HttpError =>
  new HttpError({
    code: 'limit_exceeded',
    message: 'the run is too large to be stored; pass smaller arguments',
    cause,
  });
