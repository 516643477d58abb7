import { group, version } from '../labels.ts';

/** One rule of an admission policy. `message` is a CEL expression that gives a string. */
export interface AdmissionRule {
  readonly expression: string;
  readonly message: string;
  readonly reason?: 'Invalid' | 'Forbidden';
}

/** The objects that a policy selects, and its demands. */
export interface AdmissionPolicy {
  readonly name: string;
  /** Plurals, with the subresource behind a slash. */
  readonly resources: readonly string[];
  /** API group; `windlass.dev` by default. */
  readonly api?: { readonly group: string; readonly version: string };
  /** Label that an object has now or had before; no other object is looked at. */
  readonly label?: string;
  /** Label of the namespaces in which the policy holds; everywhere unless given. */
  readonly namespaceLabel?: string;
  readonly operations: readonly ('CREATE' | 'UPDATE' | 'DELETE')[];
  /** Default: refuse. A policy that warns is silent where it cannot be evaluated. */
  readonly action?: 'Deny' | 'Warn';
  readonly variables: Readonly<Record<string, string>>;
  readonly rules: readonly AdmissionRule[];
}

/** Changes that a policy makes to an object before its checks. */
export interface AdmissionMutation extends Pick<AdmissionPolicy, 'name' | 'resources' | 'operations'> {
  /** CEL: which objects are changed. */
  readonly condition: string;
  /** CEL: a list of JSONPatch. */
  readonly patch: string;
}

const apiVersion = 'admissionregistration.k8s.io/v1';
const labels = { 'app.kubernetes.io/part-of': 'windlass' };

/**
 * The MutatingAdmissionPolicy and its binding; servers have this kind from Kubernetes 1.36 on. Where it cannot be evaluated
 * the object stays as it is, and the schema has the last word.
 */
export function mutationObjects({ condition, patch, ...matched }: AdmissionMutation): readonly object[] {
  const name = `${matched.name}.${group}`;
  return [
    {
      apiVersion,
      kind: 'MutatingAdmissionPolicy',
      metadata: { name, labels },
      spec: {
        failurePolicy: 'Ignore',
        reinvocationPolicy: 'Never',
        matchConstraints: matchConstraints(matched),
        matchConditions: [{ name: 'wanted', expression: condition }],
        mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: patch } }],
      },
    },
    { apiVersion, kind: 'MutatingAdmissionPolicyBinding', metadata: { name, labels }, spec: { policyName: name } },
  ];
}

/**
 * The ValidatingAdmissionPolicy and its binding for every namespace. The API server evaluates them itself, so they
 * hold while Windlass is down. An evaluation that fails refuses the write.
 */
export function policyObjects(policy: AdmissionPolicy): readonly object[] {
  const name = `${policy.name}.${group}`;
  const { action = 'Deny' } = policy;
  return [
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name, labels },
      spec: {
        failurePolicy: action === 'Deny' ? 'Fail' : 'Ignore',
        matchConstraints: matchConstraints(policy),
        variables: Object.entries(policy.variables).map(([variable, expression]) => ({ name: variable, expression })),
        validations: policy.rules.map((rule) => ({
          expression: rule.expression,
          messageExpression: rule.message,
          reason: rule.reason ?? 'Invalid',
        })),
      },
    },
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name, labels },
      spec: { policyName: name, validationActions: [action] },
    },
  ];
}

type Matched = Pick<AdmissionPolicy, 'api' | 'label' | 'namespaceLabel' | 'operations' | 'resources'>;

function matchConstraints(policy: Matched): object {
  const { api = { group, version }, label, namespaceLabel, operations, resources } = policy;
  const rule = { apiGroups: [api.group], apiVersions: [api.version], operations, resources };
  return {
    resourceRules: [rule],
    ...(label !== undefined && { objectSelector: exists(label) }),
    ...(namespaceLabel !== undefined && { namespaceSelector: exists(namespaceLabel) }),
  };
}

const exists = (key: string): object => ({ matchExpressions: [{ key, operator: 'Exists' }] });
