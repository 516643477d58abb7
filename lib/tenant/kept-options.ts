import { isDeepStrictEqual } from 'node:util';
import { systemNamespace } from '../../crds/labels.ts';
import type { NetworkPolicy, ResourceQuota, RoleBinding } from '../kube/index.ts';
import type { Egress } from './network-policies.ts';
import { defaultQuota, type Subject, type TenantOptions } from './tenant-manifests.ts';

/** Existing objects of a tenant; absent ones do not exist. */
export interface TenantFacts {
  readonly quota?: ResourceQuota;
  /** The policy `windlass-steps`. */
  readonly steps?: NetworkPolicy;
  readonly controllers?: RoleBinding;
  readonly viewer?: RoleBinding;
  readonly operator?: RoleBinding;
}

/**
 * The options of a tenant that keeps what it has. A limit, an egress, a release or a person that `given` does not name
 * stays, and a default limit that came with a later version is added. Pure.
 */
export function keptOptions(given: TenantOptions, facts: TenantFacts): TenantOptions {
  return {
    ...given,
    quota: { ...defaultQuota, ...facts.quota?.spec?.hard, ...given.quota },
    egress: given.egress ?? (facts.steps && egressOf(facts.steps)),
    releaseNamespace: given.releaseNamespace ?? facts.controllers?.subjects?.[0]?.namespace ?? systemNamespace,
    viewers: joined(facts.viewer, given.viewers),
    operators: joined(facts.operator, given.operators),
  };
}

/** Read off the rules: the widest that they let out. */
function egressOf({ spec }: NetworkPolicy): Egress {
  const rules = spec?.egress ?? [];
  if (rules.some((rule) => isDeepStrictEqual(rule, {}))) return 'open';
  return JSON.stringify(rules).includes('"0.0.0.0/0"') ? 'internet' : 'dns';
}

function joined(binding: RoleBinding | undefined, given: readonly Subject[] = []): readonly Subject[] {
  const all = [...(binding?.subjects ?? []).flatMap(subjectOf), ...given];
  const keyOf = ({ kind, namespace, name }: Subject): string => JSON.stringify([kind, namespace, name]);
  return [...new Map(all.map((subject) => [keyOf(subject), subject])).values()];
}

function subjectOf({ kind, name, namespace }: NonNullable<RoleBinding['subjects']>[number]): Subject[] {
  if (kind === 'ServiceAccount') return [{ kind, name, namespace }];
  return kind === 'User' || kind === 'Group' ? [{ kind, name }] : [];
}
