import type { Clock } from '../../../lib/clock.ts';
import { defineRoute, json, type Route } from '../../../lib/http/index.ts';
import type { Caller } from '../../../lib/identity/index.ts';
import { controllerRevisions, type KubeClient, metadataOf } from '../../../lib/kube/index.ts';
import { revisionSelector } from '../../../lib/registration/index.ts';
import type { Cluster } from '../../cluster/index.ts';
import { versionsOf } from '../workflows/versions.ts';
import { listAgentVersions } from './contract.ts';
import { findAgent } from './find-agent.ts';

interface VersionsDeps {
  readonly kube: Pick<KubeClient, 'listAll'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly cluster: Pick<Cluster, 'agents'>;
}

export function createVersionsRoute({ kube, clock, cluster }: VersionsDeps): Route<Caller> {
  return defineRoute<typeof listAgentVersions, Caller>(listAgentVersions, async (request) => {
    const { params, caller } = request;
    const agent = await findAgent(cluster.agents, caller, params.agent, (bytes) => request.reserve(bytes));
    const selection = { namespace: agent.metadata.namespace, labelSelector: revisionSelector(agent) };
    const { items } = await kube.listAll(metadataOf(controllerRevisions), selection);
    return json({ versions: versionsOf(agent, items, clock.now()) });
  });
}
