import { apiVersion, labels } from '../../../crds/labels.ts';
import type { AgentSpec } from '../../../crds/schema/agent.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { ListedNetwork, SecurityContextSpec } from '../../../crds/schema/security-context.ts';
import { readSecurityContext } from '../../../lib/agent/security-context.ts';
import { hasReason } from '../../../lib/errors.ts';
import {
  createOwn,
  findObject,
  isInvalid,
  type KubeClient,
  keyOf,
  type NetworkPolicy,
  networkPolicies,
} from '../../../lib/kube/index.ts';
import type { QuotaGate } from '../../step-pods/quota-gate.ts';
import type { Reasoned } from '../decide.ts';
import { agentObjectName } from './agent-pod.ts';
import { type Wait, waits } from './make-pod.ts';

type OpenedNetwork =
  | { readonly kind: 'open' }
  | (Wait & { readonly kind: 'waits' })
  | { readonly kind: 'failed'; readonly why: Reasoned };

interface NetworkDeps {
  readonly kube: Pick<KubeClient, 'get' | 'create'>;
  /** A policy counts in the quota of its namespace. */
  readonly quota: Pick<QuotaGate, 'create' | 'leave'>;
}

const open: OpenedNetwork = { kind: 'open' };

/**
 * Opens what the SecurityContext of an execution lists to its pods, by a NetworkPolicy of its own (ADR 0100). A context
 * that changes later changes nothing for an execution that has begun.
 */
export async function openNetworks(
  { kube, quota }: NetworkDeps,
  execution: AgentExecution,
  agent: AgentSpec,
): Promise<OpenedNetwork> {
  const { namespace = '', uid } = execution.metadata;
  try {
    const place = { namespace, field: 'spec.security.context' };
    const { security } = await readSecurityContext(kube, agent.security?.context, place);
    const listed = listedOf(security);
    if (listed.length === 0) return open;
    const wanted = networkPolicyOf(execution, listed);
    const { name = '' } = wanted.metadata;
    const isOurs = ({ metadata }: NetworkPolicy): boolean => metadata.labels?.[labels.executionUid] === uid;
    const wish = { namespace, resource: networkPolicies.plural, key: keyOf(execution) };
    // An existing policy skips the line; a full quota refuses even what exists.
    const there = await findObject(kube, networkPolicies, { namespace, name });
    if (there !== undefined) quota.leave(wish.key, wish.resource);
    const isOwn =
      there === undefined
        ? (await quota.create(wish, () => createOwn(kube, networkPolicies, wanted, isOurs))).kind === 'ours'
        : isOurs(there);
    return isOwn ? open : rejected(`${name} is another's NetworkPolicy; delete it`);
  } catch (error) {
    return refused(error);
  }
}

const listedOf = ({ network, networks = [] }: SecurityContextSpec): readonly ListedNetwork[] =>
  network === 'listed' ? networks : [];

const rejected = (message: string): OpenedNetwork => ({ kind: 'failed', why: { reason: 'NetworkRejected', message } });

function refused(error: unknown): OpenedNetwork {
  // The API says so where it leads the conversation.
  if (hasReason(error, 'SecurityContextNotFound')) return open;
  return isInvalid(error) ? rejected(error.serverMessage) : waits(error);
}

/** The policy of one execution, which owns it. Only the controllers give a pod the label that it selects. */
function networkPolicyOf(execution: AgentExecution, listed: readonly ListedNetwork[]): NetworkPolicy {
  const { name, namespace = '', uid = '' } = execution.metadata;
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: {
      name: agentObjectName(execution, 'network'),
      namespace,
      labels: { [labels.executionUid]: uid },
      ownerReferences: [{ apiVersion, kind: 'AgentExecution', name, uid, controller: true }],
    },
    spec: {
      podSelector: {
        matchLabels: { [labels.executionUid]: uid },
        matchExpressions: [{ key: labels.agentExecution, operator: 'Exists' }],
      },
      policyTypes: ['Egress'],
      egress: listed.map(({ cidr, ports }) => ({
        to: [{ ipBlock: { cidr } }],
        ports: ports.map((port) => ({ protocol: 'TCP', port })),
      })),
    },
  };
}
