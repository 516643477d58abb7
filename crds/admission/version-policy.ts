import { annotations } from '../labels.ts';
import type { AdmissionPolicy } from './policy.ts';

const forced = `has(object.metadata.annotations) && '${annotations.force}' in object.metadata.annotations && object.metadata.annotations['${annotations.force}'] == 'true'`;

/** A version that exists keeps its content unless the update is forced (spec 1 §2.6 `metadata.version`, design §4). */
export const versionPolicy: AdmissionPolicy = {
  name: 'workflow-versions',
  resources: ['workflows'],
  operations: ['UPDATE'],
  variables: { forced },
  rules: [
    {
      expression: 'variables.forced || object.spec.version != oldObject.spec.version || object.spec == oldObject.spec',
      message: `'spec.version: ' + object.spec.version + ' exists with other content; choose a new version or set the annotation ${annotations.force} to "true"'`,
    },
  ],
};
