import { labels } from '../labels.ts';
import type { AdmissionPolicy } from './policy.ts';

/** CEL: may write what the request writes of Services everywhere, as administrators and controllers of load balancers may. */
const mayAllServices = ['update', 'patch']
  .map((verb) => `authorizer.group('').resource('services').subresource(variables.part).check('${verb}').allowed()`)
  .join(' || ');

const addressesOf = (object: string): string => `has(${object}.spec.externalIPs) ? ${object}.spec.externalIPs : []`;
const balancersOf = (object: string): string =>
  `has(${object}.status) && has(${object}.status.loadBalancer) && has(${object}.status.loadBalancer.ingress) ? ${object}.status.loadBalancer.ingress.map(i, has(i.ip) ? i.ip : '') : []`;

/** No value of the field is new, or the writer decides for the whole cluster. */
const given = (field: string, values: string) => ({
  expression: `variables.${values}.all(v, v in variables.${values}Before) || variables.mayAllServices`,
  message: `'${field}: every node would send the traffic for these addresses to this Service, so those who may write Services in all namespaces give them, not ' + request.userInfo.username`,
  reason: 'Forbidden' as const,
});

/**
 * Guards the addresses of a tenant's Services (CVE-2020-8554). Each node takes the traffic for `externalIPs`, and for the
 * addresses of a load balancer in the status, whosever they are. A Service that is older than the tenant stays.
 */
export const servicePolicy: AdmissionPolicy = {
  name: 'service-addresses',
  api: { group: '', version: 'v1' },
  resources: ['services', 'services/status'],
  namespaceLabel: labels.tenant,
  operations: ['CREATE', 'UPDATE'],
  variables: {
    part: "has(request.subResource) ? request.subResource : ''",
    mayAllServices,
    addresses: addressesOf('object'),
    addressesBefore: `oldObject == null ? [] : (${addressesOf('oldObject')})`,
    balancers: balancersOf('object'),
    balancersBefore: `oldObject == null ? [] : (${balancersOf('oldObject')})`,
  },
  rules: [given('spec.externalIPs', 'addresses'), given('status.loadBalancer', 'balancers')],
};
