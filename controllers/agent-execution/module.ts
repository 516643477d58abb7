import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import { agentOwnerOf } from '../../lib/archive/create-archive.ts';
import { conversationLogs } from '../../lib/conversation/record.ts';
import { agents as agentKind } from '../../lib/kinds.ts';
import { keyOf } from '../../lib/kube/index.ts';
import { createServerReads, verdictBounds } from '../../lib/server-reads.ts';
import { agentInformer } from '../agent/informer.ts';
import type { Archives } from '../archiving/archives.ts';
import { archiving } from '../archiving/archiving.ts';
import { defineModule, type ModuleContext } from '../runtime/module.ts';
import { onGone } from '../runtime/on-gone.ts';
import { wakeUnseen } from '../runtime/wakes.ts';
import { podInformer } from '../step-pods/informer.ts';
import { podQuotaGate } from '../step-pods/own-pod.ts';
import { podSettings } from '../step-pods/settings.ts';
import { ownerKey } from '../step-pods/step.ts';
import { endingNamespaces, tenantInformer } from '../tenants.ts';
import { volumeInformer } from '../volume/informers.ts';
import { agentRecords } from './end/agent-records.ts';
import { createRecordedEnd } from './end/recorded-end.ts';
import { agentExecutionInformer } from './informer.ts';
import { createAgentExecutionReconcile } from './reconcile.ts';

const kind = 'AgentExecution';

const hasNotBegun = ({ status }: AgentExecution): boolean => status?.agent === undefined;

const informers = {
  executions: agentExecutionInformer,
  agents: agentInformer,
  pods: podInformer,
  volumes: volumeInformer,
  tenants: tenantInformer,
};

export const agentExecutionModule = defineModule({
  kind,
  informers,
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
  async reconcile(context) {
    const { bus, kube, clock, events, facts, config, nodeConfig, informers, wake, metrics } = context;
    const { executions, agents, pods, volumes, tenants } = informers;
    const archives = archivesOf(context);
    onGone(executions, (uid) => archives.forget(uid));
    const quota = podQuotaGate(clock, pods, wake);
    // A network policy is deleted with its execution.
    executions.onChange(({ before, after }) => {
      if (after === undefined) quota.freed(before?.metadata.namespace ?? '');
    });
    return createAgentExecutionReconcile({
      kube,
      clock,
      events,
      facts,
      nodeConfig,
      executions: executions.cache,
      whole: executions.whole,
      agents: agents.cache,
      readAgent: createServerReads({ kube, clock, resource: agentKind, bounds: verdictBounds }),
      pods: pods.cache,
      volumes: volumes.cache,
      settings: { ...(await podSettings(kube, config)), gateway: config.WINDLASS_AGENT_GATEWAY },
      archives,
      recordedEnd: createRecordedEnd({ bus, logs: bus.logs(conversationLogs), tenants: context.tenants, clock }),
      quota,
      isEnding: endingNamespaces(tenants),
      onEnd: (reason) => metrics.ended(kind, reason),
      ttlSeconds: config.WINDLASS_EXECUTION_TTL_SECONDS,
      archiveGraceSeconds: config.WINDLASS_ARCHIVE_GRACE_SECONDS,
    });
  },
});

function archivesOf(context: ModuleContext<typeof informers>): Archives<AgentExecution> {
  const { bus, tenants, turns } = context;
  return archiving(context, {
    kind: agentRecords({ logs: bus.logs(conversationLogs), tenants, turns }),
    wholes: context.informers.executions,
    ownerOf: agentOwnerOf,
  });
}
