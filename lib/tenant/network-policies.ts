import { labels } from '../../crds/labels.ts';
import type { NetworkPolicy } from '../kube/index.ts';

/**
 * Network access of the pods of steps. `dns`: names only. `internet`: names and public addresses, but no private,
 * link-local or unique-local one, hence neither the API server, nor other pods, nor a cloud's metadata service.
 * `open`: anything. Nothing may ever reach them.
 */
export type Egress = 'dns' | 'internet' | 'open';

/**
 * Ranges that are no public internet: RFC 1918, shared addresses (RFC 6598), loopback, link-local, and what RFC 6890
 * reserves, of which some clusters take their pods' addresses (198.18.0.0/15, 240.0.0.0/4). The one public address is
 * that of Azure's platform, which gives nodes their credentials; 192.0.0.192 is a metadata service too.
 */
const privateIpv4 = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/3',
] as const;
/**
 * `64:ff9b::/96` and `64:ff9b:1::/48` (RFC 6052, RFC 8215) represent any IPv4 address, private ones among them,
 * behind a translator. Where pods have no other way to IPv4, an administrator adds a policy for the addresses that
 * they need.
 */
const privateIpv6 = ['::1/128', '64:ff9b::/96', '64:ff9b:1::/48', 'fc00::/7', 'fe80::/10', 'ff00::/8'] as const;

/** Where pods of the node find names: NodeLocal DNSCache, and Cloud DNS of GKE. No pod is behind either. */
const nodesOwnDns = ['169.254.20.10/32', '169.254.169.254/32'] as const;

const dns = {
  to: [
    {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
      // Where the cache of the node is a pod of the pods' network, it is that pod which an engine sees.
      podSelector: { matchExpressions: [{ key: 'k8s-app', operator: 'In', values: ['kube-dns', 'node-local-dns'] }] },
    },
    ...nodesOwnDns.map((cidr) => ({ ipBlock: { cidr } })),
  ],
  ports: [
    { protocol: 'UDP', port: 53 },
    { protocol: 'TCP', port: 53 },
  ],
};

const internet = {
  to: [{ ipBlock: { cidr: '0.0.0.0/0', except: privateIpv4 } }, { ipBlock: { cidr: '::/0', except: privateIpv6 } }],
};

const rulesOf: Record<Egress, readonly unknown[]> = { dns: [dns], internet: [dns, internet], open: [{}] };

/** The internal listener of the API in the release's namespace (design §12). */
const gateway = (releaseNamespace: string) => ({
  to: [
    {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': releaseNamespace } },
      podSelector: {
        matchLabels: { 'app.kubernetes.io/name': 'windlass', 'app.kubernetes.io/component': 'api' },
      },
    },
  ],
  ports: [{ protocol: 'TCP', port: 8_081 }],
});

/**
 * Four policies for one tenant. Nothing reaches or leaves any pod of the namespace, except by the other three. Pods of
 * steps and of git bindings may reach what `egress` says. Pods of agents reach names and the API of the release,
 * whatever `egress` says. Policies add up, so an administrator opens more by adding one of their own.
 */
export function networkPolicies(namespace: string, egress: Egress, releaseNamespace: string): NetworkPolicy[] {
  return [
    policy(namespace, 'windlass-default-deny', { podSelector: {}, policyTypes: ['Ingress', 'Egress'] }),
    policy(namespace, 'windlass-steps', {
      podSelector: { matchExpressions: [{ key: labels.execution, operator: 'Exists' }] },
      policyTypes: ['Egress'],
      egress: rulesOf[egress],
    }),
    policy(namespace, 'windlass-git', {
      podSelector: { matchExpressions: [{ key: labels.gitBinding, operator: 'Exists' }] },
      policyTypes: ['Egress'],
      egress: rulesOf[egress],
    }),
    policy(namespace, 'windlass-agents', {
      podSelector: { matchExpressions: [{ key: labels.agentExecution, operator: 'Exists' }] },
      policyTypes: ['Egress'],
      egress: [dns, gateway(releaseNamespace)],
    }),
  ];
}

function policy(namespace: string, name: string, spec: NetworkPolicy['spec']): NetworkPolicy {
  return { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name, namespace }, spec };
}
