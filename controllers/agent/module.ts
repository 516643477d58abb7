import { defineModule } from '../runtime/module.ts';
import { endingNamespaces } from '../tenants.ts';
import { createAgentReconcile } from './reconcile.ts';
import { agentInformers, agentWakes } from './wakes.ts';

export const agentModule = defineModule({
  kind: 'Agent',
  informers: agentInformers,
  wakes: agentWakes,
  reconcile: ({ kube, clock, turns, nodeConfig, informers: { agents, revisions, executions, tenants } }) =>
    createAgentReconcile({
      kube,
      clock,
      agents: agents.cache,
      revisions: revisions.cache,
      executions: executions.cache,
      wholeAgent: agents.whole,
      wholeRevision: revisions.whole,
      isEnding: endingNamespaces(tenants),
      nodeConfig,
      turns,
    }),
});
