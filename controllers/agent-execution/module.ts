import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import { keyOf } from '../../lib/kube/index.ts';
import { agentInformer } from '../agent/informer.ts';
import { defineModule } from '../runtime/module.ts';
import { wakeUnseen } from '../runtime/wakes.ts';
import { podInformer } from '../step-pods/informer.ts';
import { ownerKey } from '../step-pods/owner.ts';
import { podSettings } from '../step-pods/settings.ts';
import { volumeInformer } from '../volume/informers.ts';
import { agentExecutionInformer } from './informer.ts';
import { createAgentExecutionReconcile } from './reconcile.ts';

const kind = 'AgentExecution';

const hasNotBegun = ({ status }: AgentExecution): boolean => status?.agent === undefined;

export const agentExecutionModule = defineModule({
  kind,
  informers: {
    executions: agentExecutionInformer,
    agents: agentInformer,
    pods: podInformer,
    volumes: volumeInformer,
  },
  wakes: {
    executions: wakeUnseen,
    /** Executions that wait for their agent. */
    agents({ after }, { executions }) {
      if (after === undefined) return [];
      const { name, uid = '' } = after.metadata;
      const waiting = [...executions.cache.byIndex('agent', name), ...executions.cache.byIndex('agent', uid)];
      return waiting.filter(hasNotBegun).map(keyOf);
    },
    pods({ before, after }) {
      const pod = after ?? before;
      const key = pod && ownerKey(pod, kind);
      return key === undefined ? [] : [key];
    },
  },
  /** Asks the server for its version once. */
  async reconcile({ kube, clock, events, facts, config, nodeConfig, informers }) {
    const { executions, agents, pods, volumes } = informers;
    return createAgentExecutionReconcile({
      kube,
      clock,
      events,
      facts,
      nodeConfig,
      executions: executions.cache,
      agents: agents.cache,
      pods: pods.cache,
      volumes: volumes.cache,
      settings: { ...(await podSettings(kube, config)), gateway: config.WINDLASS_AGENT_GATEWAY },
      ttlSeconds: config.WINDLASS_EXECUTION_TTL_SECONDS,
    });
  },
});
