import type { Agent } from '../../crds/schema/agent.ts';
import { judgeNameOf } from '../../lib/agent/judge-name.ts';
import { isWholeAgent, slimAgent } from '../../lib/agent/slim-agent.ts';
import { createInformer, createWholeObjects, type Informer } from '../../lib/informer/index.ts';
import { agents } from '../../lib/kinds.ts';
import { bytesOf } from '../../lib/memory-budget/index.ts';
import type { InformerSpec } from '../runtime/module.ts';
import { withSpec } from '../runtime/with-spec.ts';

/** Bytes of heap for whole versions: those used last spare a request. */
const keptBytes = bytesOf('whole agents');

/**
 * Slim: a version in full is read by `whole` and `use`. Found by `cachedAgent`; `judge`: name or uid of the agent that judges
 * the answers.
 */
export const agentInformer: InformerSpec<Informer<Agent, 'judge' | 'namespace'>> = {
  name: 'agents',
  kind: 'Agent',
  open: (deps) =>
    createInformer(deps, {
      resource: agents,
      parse: withSpec,
      wholes: createWholeObjects({
        kube: deps.kube,
        clock: deps.clock,
        resource: agents,
        slim: slimAgent,
        isWhole: isWholeAgent,
        keptBytes,
      }),
      indexes: {
        namespace: ({ metadata }) => [metadata.namespace ?? ''],
        judge({ spec }) {
          const judge = judgeNameOf(spec);
          return judge === undefined ? [] : [judge];
        },
      },
    }),
};
