import { globalNamespace } from '../../../crds/labels.ts';
import { readyOf } from '../../../crds/ready.ts';
import type { Agent } from '../../../crds/schema/agent.ts';
import { isUid } from '../../../crds/uid.ts';
import { agents } from '../../../lib/kinds.ts';
import { findObject } from '../../../lib/kube/index.ts';
import { registerAgent, specOfVersion } from '../../../lib/registration/index.ts';
import type { AgentBackend, AgentRow, VersionRow } from '../backend.ts';
import { noAgent } from '../refusals.ts';
import type { KubernetesDeps } from './deps.ts';
import { inNamespace } from './known-namespace.ts';

/** Definitions of agents as custom resources. */
export function createAgents(deps: KubernetesDeps): AgentBackend {
  const { kube, namespace } = deps;
  return {
    async register(agent, { scope, force }) {
      const place = scope === 'global' ? globalNamespace : namespace;
      const written = await inNamespace(deps, registerAgent({ kube }, agent, { namespace: place, force }));
      return { result: written.kind, agent: written.object, where: `in ${place}` };
    },
    list: async () => (await inNamespace(deps, kube.listAll(agents, { namespace }))).items.map(rowOf),
    async read(nameOrUid, version) {
      const agent = await findAgent(deps, nameOrUid);
      return { ...agent, spec: await specOfVersion(kube, agent, version) };
    },
    versions: async (nameOrUid) => versionsOf(await findAgent(deps, nameOrUid)),
    async delete(nameOrUid) {
      const { name, namespace: place, uid } = (await findAgent(deps, nameOrUid)).metadata;
      await kube.delete(agents, { namespace: place, name }, { uid });
      return name;
    },
  };
}

/** One of the namespace first, then one that all tenants share. */
async function findAgent(deps: KubernetesDeps, nameOrUid: string): Promise<Agent> {
  const { kube, namespace, words } = deps;
  for (const place of [namespace, globalNamespace]) {
    const found = isUid(nameOrUid)
      ? (await kube.listAll(agents, { namespace: place })).items.find(({ metadata }) => metadata.uid === nameOrUid)
      : await findObject(kube, agents, { namespace: place, name: nameOrUid });
    if (found !== undefined) return found;
  }
  throw noAgent(nameOrUid, words);
}

function rowOf(agent: Agent): AgentRow {
  const { name, uid = '', namespace = '' } = agent.metadata;
  const ready = readyOf(agent)?.status ?? 'Unknown';
  return { name, id: uid, owner: namespace, version: agent.spec.version, ready, object: agent };
}

function versionsOf({ spec, status }: Agent): VersionRow[] {
  return (status?.versions ?? []).map(({ version, registered_at: registeredAt, revision }) => ({
    version,
    current: version === spec.version,
    registeredAt,
    revision,
  }));
}
