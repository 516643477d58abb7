import { globalNamespace } from '../../../crds/labels.ts';
import type { Backend, BackendWords, ServerIdentity } from '../backend.ts';
import type { KubernetesDeps } from './deps.ts';
import { createAgents } from './agents.ts';
import { createCalls } from './calls.ts';
import { createExecutions } from './executions.ts';
import { createLogs } from './logs.ts';
import { onlyTheApi } from './only-the-api.ts';
import { createWorkflows } from './workflows.ts';

/** How sentences name a namespace. `flags` lead to its cluster. */
export function wordsOf(namespace: string, flags: string): BackendWords {
  const place = `in namespace ${namespace}`;
  const workflowPlaces = namespace === globalNamespace ? place : `${place} or ${globalNamespace}`;
  return { place, workflowPlaces, flags: ` -n ${namespace}${flags}` };
}

/** Straight to the Kubernetes API, with the rights of the user there. */
export function createKubernetesBackend(deps: KubernetesDeps): Backend {
  const { kube } = deps;
  return {
    kind: 'kubernetes',
    words: deps.words,
    workflows: createWorkflows(deps),
    executions: createExecutions(deps),
    calls: createCalls(deps),
    logs: createLogs(deps),
    stimuli: { send: () => Promise.reject(onlyTheApi('only the API takes stimuli')) },
    agents: createAgents(deps),
    agentRuns() {
      throw onlyTheApi('executions of agents go through the HTTP API');
    },
    edge() {
      throw onlyTheApi('edge hosts go through the HTTP API');
    },
    async version() {
      const { gitVersion } = await kube.serverVersion();
      return { name: 'kubernetes', version: gitVersion.replace(/^v/, '') };
    },
    async whoAmI() {
      const { username, groups } = await kube.whoAmI();
      const facts: ServerIdentity['facts'] = groups.length === 0 ? {} : { groups: groups.join(', ') };
      return { user: username, facts };
    },
  };
}
