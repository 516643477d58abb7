import type { EdgeHost } from '../../../../crds/schema/edge-host.ts';
import { limits } from '../../../../crds/limits.ts';
import { AppError } from '../../../../lib/errors.ts';
import { type HostCommands, isEdgeUnavailable } from '../../../../lib/edge/index.ts';
import { nodeIdOfHost } from '../../../../lib/fleet/fleet-host.ts';
import { defineRoute, json, noContent, type Route } from '../../../../lib/http/index.ts';
import { HttpError } from '../../../../lib/http/http-error.ts';
import { invalidField } from '../../../../lib/http/request-errors.ts';
import type { Caller } from '../../../../lib/identity/index.ts';
import type { NewId } from '../../../../lib/ids.ts';
import { edgeCaller } from '../edge-caller.ts';
import { drainEdgeHost, pushEdgeConfig, resumeEdgeHost, shutDownEdgeHost } from './contract.ts';
import { locateHost } from './find-host.ts';
import { viewOf } from './recent.ts';
import { auditFields, changeHost, type WriteHostDeps } from './write.ts';

export interface OrderDeps extends WriteHostDeps {
  readonly newId: NewId;
  /** Orders to the relay that holds the stream of a host. */
  readonly hostCommands: Pick<HostCommands, 'drain' | 'pushConfig' | 'shutdown'>;
}

const addressOf = (tenant: string, host: EdgeHost) => ({
  tenant,
  hostUid: host.metadata.uid ?? '',
  nodeId: nodeIdOfHost(host),
});

/**
 * EDGE-FLOW-13: the object says so first, and no run targets the host from then on. A relay tells a host that was away when
 * its stream opens, so that the order itself may fail.
 */
export function createDrainRoute(deps: OrderDeps): Route<Caller> {
  return defineRoute<typeof drainEdgeHost, Caller>(drainEdgeHost, async ({ params, caller: asked }) => {
    const caller = edgeCaller(asked, 'svc.edge.hosts.write');
    const host = await changeHost(deps, caller, params.id, (spec) => ({ ...spec, draining: true }));
    deps.audit.record({ type: 'EdgeHostDrained', act: 'drain', ...auditFields(caller, host) });
    await deps.hostCommands.drain(addressOf(caller.tenant, host)).catch((error: unknown) => {
      if (!(error instanceof AppError) || (error.code !== 'unavailable' && error.code !== 'timeout')) throw error;
    });
    return json(await viewOf(deps, caller.tenant, host));
  });
}

export function createResumeRoute(deps: OrderDeps): Route<Caller> {
  return defineRoute<typeof resumeEdgeHost, Caller>(resumeEdgeHost, async ({ params, caller: asked }) => {
    const caller = edgeCaller(asked, 'svc.edge.hosts.write');
    const host = await changeHost(deps, caller, params.id, ({ draining: _draining, ...spec }) => spec);
    deps.audit.record({ type: 'EdgeHostChanged', ...auditFields(caller, host) });
    return json(await viewOf(deps, caller.tenant, host));
  });
}

/** EDGE-FLOW-12. */
export function createPushConfigRoute(deps: OrderDeps): Route<Caller> {
  return defineRoute<typeof pushEdgeConfig, Caller>(pushEdgeConfig, async ({ params, body, caller: asked }) => {
    const caller = edgeCaller(asked, 'svc.edge.hosts.write');
    const host = await locateHost(deps.cluster.edgeHosts, caller, params.id);
    const delta = JSON.stringify(body.config);
    if (Buffer.byteLength(delta) > limits.edgeConfigBytes)
      throw invalidField('body.config', `has more than ${limits.edgeConfigBytes} bytes of JSON; push it in parts`);
    const version = body.version ?? deps.newId();
    await deps.hostCommands.pushConfig(addressOf(caller.tenant, host), { delta, version }).catch(sayNotConnected);
    deps.audit.record({ type: 'EdgeHostConfigPushed', ...auditFields(caller, host) });
    return json({ version });
  });
}

/** EDGE-FLOW-15. */
export function createShutdownRoute(deps: OrderDeps): Route<Caller> {
  return defineRoute<typeof shutDownEdgeHost, Caller>(shutDownEdgeHost, async ({ params, body, caller: asked }) => {
    const caller = edgeCaller(asked, 'svc.edge.hosts.write');
    const host = await locateHost(deps.cluster.edgeHosts, caller, params.id);
    const { grace_secs: seconds = defaultGraceSecs } = body;
    await deps.hostCommands.shutdown(addressOf(caller.tenant, host), seconds * 1_000).catch(sayNotConnected);
    deps.audit.record({ type: 'EdgeHostShutDown', ...auditFields(caller, host) });
    return noContent;
  });
}

const defaultGraceSecs = 30;

/** The state of the host may be some seconds behind: its stream has just ended. */
function sayNotConnected(error: unknown): never {
  if (!isEdgeUnavailable(error)) throw error;
  throw new HttpError({ code: 'unavailable', message: notConnected });
}

const notConnected =
  'the host is not connected: no relay holds a stream of it, and it has no such order; try again when it is back';
