import { globalNamespace } from '../../crds/labels.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { meantBy } from '../../crds/similar-name.ts';
import { cachedAgent, type KnownAgents, meantAgent } from '../agent/find-agent.ts';
import type { KnownNames } from '../definition/check-named.ts';
import { workflowName } from '../manifest/object-name.ts';
import { cachedWorkflow, isVisible, type WorkflowCache } from './find-workflow.ts';
import { workflowUser } from './scope.ts';

interface Caches {
  readonly agents: KnownAgents;
  readonly workflows: Pick<WorkflowCache, 'getByUid' | 'byIndex'>;
}

/** Names that the states of a workflow may use where it is deployed; a hint names nothing that its users may not see. */
export function knownNames({ agents, workflows }: Caches, { metadata }: Pick<Workflow, 'metadata'>): KnownNames {
  const namespace = metadata.namespace ?? '';
  const user = workflowUser({ metadata });
  const place = { namespace, ...(user === undefined ? {} : { user }) };
  const visible = () =>
    [namespace, globalNamespace]
      .flatMap((each) => workflows.byIndex('namespace', each))
      .filter((workflow) => isVisible(workflow, place))
      .map((workflow) => workflowName(workflow.metadata));
  return {
    agent: {
      has: (nameOrUid) => cachedAgent(agents, namespace, nameOrUid) !== undefined,
      meant: (written) => meantAgent(agents, namespace, written),
    },
    workflow: {
      has: (nameOrUid) => cachedWorkflow(workflows, { ...place, nameOrUid }) !== undefined,
      meant: (written) => meantBy(written, visible()),
    },
  };
}
