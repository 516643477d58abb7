import { labels } from '../labels.ts';
import { celList } from '../rules/cel-text.ts';
import { podReporters } from '../pod-reporters.ts';
import type { AdmissionPolicy } from './policy.ts';

const reporters = celList(podReporters);

const speaksAsOne = (object: string): string =>
  `(has(${object}.reportingController) && ${object}.reportingController in ${reporters} || has(${object}.deprecatedSource) && has(${object}.deprecatedSource.component) && ${object}.deprecatedSource.component in ${reporters})`;

/** CEL: may write the Events of every namespace, as nodes and the control plane's own controllers may. One expression has room for two questions. */
const mayAllEvents = ['', 'events.k8s.io']
  .map((group) => `authorizer.group('${group}').resource('events').check('create').allowed()`)
  .join(' || ');

/**
 * Guards the reporter of Events in the namespaces of tenants. A user with the role `edit` may write Events; only what nodes
 * and volumes say of a pod becomes the words of a step that waits. The API server reads core Events as these.
 */
export const eventPolicy: AdmissionPolicy = {
  name: 'pod-events',
  api: { group: 'events.k8s.io', version: 'v1' },
  resources: ['events'],
  namespaceLabel: labels.tenant,
  operations: ['CREATE', 'UPDATE'],
  variables: {
    speaker: `${speaksAsOne('object')} || oldObject != null && ${speaksAsOne('oldObject')}`,
    mayAllEvents,
  },
  rules: [
    {
      expression: '!variables.speaker || variables.mayAllEvents',
      message: `'reportingController: Events of ${podReporters.join(' and ')} are written by those who may write Events in all namespaces, not by ' + request.userInfo.username`,
      reason: 'Forbidden',
    },
  ],
};
