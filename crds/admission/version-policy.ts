import { annotations } from '../labels.ts';
import { AgentSpec } from '../schema/agent.ts';
import { WorkflowSpec } from '../schema/workflow.ts';
import type { AdmissionPolicy } from './policy.ts';

const forced = `has(object.metadata.annotations) && '${annotations.force}' in object.metadata.annotations && object.metadata.annotations['${annotations.force}'] == 'true'`;

/** Fields that a message names; where there are more, it counts them. */
const shown = 10;

const isOther = (field: string): string =>
  `has(object.spec.${field}) != has(oldObject.spec.${field}) || (has(object.spec.${field}) && object.spec.${field} != oldObject.spec.${field})`;

const changedFields = (properties: object): string[] =>
  Object.keys(properties)
    .filter((field) => field !== 'states' && field !== 'version')
    .map((field) => `(${isOther(field)} ? ['spec.${field}'] : [])`);

/** Names of the fields that differ, of `states` those of the states. */
const changedOfWorkflow = [
  ...changedFields(WorkflowSpec.properties),
  "object.spec.states.filter(s, !(s in oldObject.spec.states) || object.spec.states[s] != oldObject.spec.states[s]).map(s, 'spec.states.' + s)",
  "oldObject.spec.states.filter(s, !(s in object.spec.states)).map(s, 'spec.states.' + s)",
].join(' + ');

const changedText = `(size(variables.changed) > ${shown} ? string(size(variables.changed)) + ' fields' : variables.changed.join(', '))`;

/** A version that exists keeps its content unless the update is forced (spec 1 §2.6 `metadata.version`, design §4). */
const keepsContent = (kind: Pick<AdmissionPolicy, 'name' | 'resources'>, changed: string): AdmissionPolicy => ({
  ...kind,
  operations: ['UPDATE'],
  variables: { forced, changed },
  rules: [
    {
      expression: 'variables.forced || object.spec.version != oldObject.spec.version || object.spec == oldObject.spec',
      message: `'spec.version: ' + object.spec.version + ' exists with other content (' + ${changedText} + '); choose a new version or set the annotation ${annotations.force} to "true"'`,
    },
  ],
});

export const versionPolicy = keepsContent({ name: 'workflow-versions', resources: ['workflows'] }, changedOfWorkflow);
export const agentVersionPolicy = keepsContent(
  { name: 'agent-versions', resources: ['agents'] },
  changedFields(AgentSpec.properties).join(' + '),
);
