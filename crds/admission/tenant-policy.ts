import { annotations, labels } from '../labels.ts';
import { celList } from '../rules/cel-text.ts';
import type { Identities } from './accounts.ts';
import { type Marks, markRules, markVariables } from './marks.ts';
import type { AdmissionPolicy } from './policy.ts';

const podSecurity = ['enforce', 'audit', 'warn'].flatMap((mode) => [
  `pod-security.kubernetes.io/${mode}`,
  `pod-security.kubernetes.io/${mode}-version`,
]);

const marks: Marks = { labels: [labels.tenant, ...podSecurity], annotations: [annotations.webhookSources] };

/**
 * CEL: the user may write every namespace. A role that is bound inside one namespace gives the right to that one alone.
 */
export const isClusters = ['update', 'patch']
  .map((verb) => `authorizer.group('').resource('namespaces').check('${verb}').allowed()`)
  .join(' || ');

/**
 * Which tenant a namespace is, how strict it is and which webhooks come to it is not for its own administrators to say.
 * Writes of the subresources store labels and annotations as well; the namespace controller changes none of these.
 */
export const tenantPolicy = ({ labellers }: Identities): AdmissionPolicy => ({
  name: 'tenant-namespaces',
  api: { group: '', version: 'v1' },
  resources: ['namespaces', 'namespaces/status', 'namespaces/finalize'],
  label: labels.tenant,
  operations: ['UPDATE'],
  variables: {
    ...markVariables(marks),
    isLabeller: `request.userInfo.username in ${celList(labellers)}`,
    isClusters,
  },
  rules: markRules(marks, 'variables.isLabeller || variables.isClusters', 'those who may write all namespaces'),
});
