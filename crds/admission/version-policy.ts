import { conditionTypes } from '../conditions.ts';
import { annotations } from '../labels.ts';
import { AgentSpec } from '../schema/agent.ts';
import { WorkflowSpec } from '../schema/workflow.ts';
import type { AdmissionPolicy } from './policy.ts';

const forced = `has(object.metadata.annotations) && '${annotations.force}' in object.metadata.annotations && object.metadata.annotations['${annotations.force}'] == 'true'`;

/**
 * The controllers have judged this very content and stored none under its version. The revision that was accepted fixes
 * a version. A mistake that was never accepted may be corrected under its version. A content that they have not judged yet
 * counts as accepted.
 */
const unaccepted = [
  'has(oldObject.status) && has(oldObject.status.observedGeneration) && has(oldObject.status.conditions)',
  'oldObject.status.observedGeneration == oldObject.metadata.generation',
  `oldObject.status.conditions.exists(c, c.type == '${conditionTypes.ready}' && c.status == 'False')`,
  '!(has(oldObject.status.versions) && oldObject.status.versions.exists(v, v.version == oldObject.spec.version))',
].join(' && ');

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

/** A version that was accepted keeps its content unless the update is forced (spec 1 §2.6 `metadata.version`, design §4). */
const keepsContent = (kind: Pick<AdmissionPolicy, 'name' | 'resources'>, changed: string): AdmissionPolicy => ({
  ...kind,
  operations: ['UPDATE'],
  variables: { forced, unaccepted, changed },
  rules: [
    {
      expression:
        'variables.forced || variables.unaccepted || object.spec.version != oldObject.spec.version || object.spec == oldObject.spec',
      message: `'spec.version: ' + object.spec.version + ' exists with other content (' + ${changedText} + '); choose a new version or set the annotation ${annotations.force} to "true"'`,
    },
  ],
});

export const versionPolicy = keepsContent({ name: 'workflow-versions', resources: ['workflows'] }, changedOfWorkflow);
export const agentVersionPolicy = keepsContent(
  { name: 'agent-versions', resources: ['agents'] },
  changedFields(AgentSpec.properties).join(' + '),
);
