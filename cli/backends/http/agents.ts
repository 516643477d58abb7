import type { ReadAgentReply } from '../../../client/index.ts';
import { WindlassApiError } from '../../../client/index.ts';
import { apiVersion } from '../../../crds/labels.ts';
import { limits } from '../../../crds/limits.ts';
import type { Agent } from '../../../crds/schema/agent.ts';
import type { FullAgentManifest } from '../../../crds/schema/agent-manifest.ts';
import { defined } from '../../../lib/defined.ts';
import { AppError } from '../../../lib/errors.ts';
import { toAgent, toAgentManifest } from '../../../lib/manifest/convert-agent.ts';
import type { AgentBackend, AgentRow } from '../backend.ts';
import { noAgent } from '../refusals.ts';
import { allPages } from './all-pages.ts';
import type { HttpDeps } from './deps.ts';
import { notFoundHere } from './refusals.ts';

/** Definitions of agents as the API shows them. */
export function createAgents(deps: HttpDeps): AgentBackend {
  const { client, words } = deps;
  const found = <T>(agent: string, answer: Promise<T>): Promise<T> => notFoundHere(answer, noAgent(agent, words));
  return {
    async register(agent, { scope, force }) {
      const body = JSON.stringify(toAgentManifest(agent));
      const {
        agent_id: uid,
        registration: result,
        warnings,
      } = await client
        .registerAgent({ body, scope, force })
        .catch((error: unknown) => Promise.reject(refusalOf(error)));
      const registered = { ...agent, metadata: { ...agent.metadata, uid } };
      const where = scope === 'global' ? 'for every tenant' : words.place;
      return { result, agent: registered, where, ...defined({ warnings }) };
    },
    list: () =>
      allPages(async (cursor) => {
        const page = await client.listAgents({ cursor, limit: limits.pageSizeMax });
        return { rows: page.agents.map(rowOf), next: page.next_cursor };
      }),
    read: async (agent, version) => agentOf(await found(agent, client.readAgent({ agent, version }))),
    async versions(agent) {
      const { versions } = await found(agent, client.listAgentVersions({ agent }));
      return versions.map(({ version, current, registered_at }) => ({ version, current, registeredAt: registered_at }));
    },
    delete: async (agent) => (await found(agent, client.deleteAgent({ agent }))).name,
  };
}

/** That a version exists is said as it is when it is found out here. */
function refusalOf(error: unknown): unknown {
  if (!(error instanceof WindlassApiError) || error.status !== 409) return error;
  const [what] = /^version .* exists with other content[^;]*/.exec(error.message) ?? [];
  return what === undefined ? error : new AppError('conflict', what, { reason: 'VersionExists' });
}

function rowOf({
  agent_id: id,
  name,
  tenant_id: owner,
}: {
  agent_id: string;
  name: string;
  tenant_id: string;
}): AgentRow {
  return { name, id, owner, object: { apiVersion, kind: 'Agent', metadata: { name, uid: id } } };
}

/** The custom resource that the manifest is the other form of. */
function agentOf(definition: ReadAgentReply): Agent {
  const {
    agent_id: uid,
    created_at: creationTimestamp,
    conditions,
    apiVersion: version,
    kind,
    metadata,
    spec,
  } = definition;
  const manifest = { apiVersion: version, kind, metadata, spec } as unknown as FullAgentManifest;
  const agent = toAgent(manifest);
  return {
    ...agent,
    metadata: { ...agent.metadata, uid, creationTimestamp },
    status: { conditions: conditions as NonNullable<Agent['status']>['conditions'] },
  };
}
