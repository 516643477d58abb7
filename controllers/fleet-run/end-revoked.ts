import type { EdgeHost } from '../../crds/schema/edge-host.ts';
import { stateOfHost } from '../../lib/fleet/fleet-host.ts';
import type { CacheReader } from '../../lib/informer/index.ts';
import { say, type SayDeps } from './say.ts';
import type { RunSession } from './session.ts';

interface EndRevokedDeps extends SayDeps {
  readonly hosts: Pick<CacheReader<EdgeHost, 'namespace'>, 'getByUid'>;
}

/**
 * Ends the commands of hosts that were revoked meanwhile: no relay takes a result of them any more (spec 2 §3). Looked at
 * with each turn of the run, so once a second at least.
 */
export function endRevoked(deps: EndRevokedDeps, session: RunSession): void {
  for (const node of session.progress.open()) {
    if (session.isSettled(node) || !isRevoked(deps.hosts.getByUid(session.target(node).host_uid))) continue;
    const message = 'the host was revoked while it had the command, which may run on to its deadline';
    void say(deps, session, node, { outcome: 'err', code: 'HostRevoked', message, exit_code: 0 });
  }
}

/** A host whose object is gone has no credential any more. */
const isRevoked = (host: EdgeHost | undefined): boolean =>
  host === undefined || host.metadata.deletionTimestamp !== undefined || stateOfHost(host) === 'Revoked';
