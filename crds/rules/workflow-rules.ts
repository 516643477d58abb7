import type { CelRule } from '../schema/parts.ts';

/**
 * Rules of a workflow's spec. Rules on references to states of the map by key are in an admission policy
 * (crds/admission): keys have no length limit here, so the API server cannot bound the cost of such a message.
 */
export const workflowRules: CelRule[] = [
  {
    rule: 'self.initial_state in self.states',
    message: 'initial_state is not a key of states',
    messageExpression: `"'" + self.initial_state + "' is not a key of states"`,
    fieldPath: '.initial_state',
  },
];
