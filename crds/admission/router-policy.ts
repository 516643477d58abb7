import { sourcePattern, workflowSourcePattern } from '../stimulus-source.ts';
import type { AdmissionPolicy } from './policy.ts';

/** Names of sources: a schema cannot restrict the keys of a map (requirements AMB-042, AMB-043). */
export const routerPolicy: AdmissionPolicy = {
  name: 'stimulus-routers',
  resources: ['stimulusrouters'],
  operations: ['CREATE', 'UPDATE'],
  variables: {
    badSources: `has(object.spec.routes) ? object.spec.routes.filter(s, !s.matches('${sourcePattern}') && !s.matches('${workflowSourcePattern}')) : []`,
  },
  rules: [
    {
      expression: 'size(variables.badSources) == 0',
      message: `'spec.routes.' + variables.badSources[0] + ': the name of a source must match ${sourcePattern}, that of a finished workflow ${workflowSourcePattern}'`,
    },
  ],
};
