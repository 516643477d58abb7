import { group, version } from '../labels.ts';

/** One rule of an admission policy. `message` is a CEL expression that gives a string. */
export interface AdmissionRule {
  readonly expression: string;
  readonly message: string;
  readonly reason?: 'Invalid' | 'Forbidden';
}

/** What a policy looks at and asks for. */
export interface AdmissionPolicy {
  readonly name: string;
  /** Plurals, with the subresource behind a slash. */
  readonly resources: readonly string[];
  /** Of which API; ours unless another is given. */
  readonly api?: { readonly group: string; readonly version: string };
  /** Label that an object has now or had before; no other object is looked at. */
  readonly label?: string;
  readonly operations: readonly ('CREATE' | 'UPDATE')[];
  /** Default: refuse. A policy that warns is silent where it cannot be evaluated. */
  readonly action?: 'Deny' | 'Warn';
  readonly variables: Readonly<Record<string, string>>;
  readonly rules: readonly AdmissionRule[];
}

/**
 * The ValidatingAdmissionPolicy and its binding for every namespace. The API server evaluates them itself, so they
 * hold while Windlass is down. An evaluation that fails refuses the write.
 */
export function policyObjects(policy: AdmissionPolicy): readonly object[] {
  const name = `${policy.name}.${group}`;
  const { action = 'Deny' } = policy;
  const labels = { 'app.kubernetes.io/part-of': 'windlass' };
  const apiVersion = 'admissionregistration.k8s.io/v1';
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

function matchConstraints({ api = { group, version }, label, operations, resources }: AdmissionPolicy): object {
  const rule = { apiGroups: [api.group], apiVersions: [api.version], operations, resources };
  const selector = label === undefined ? undefined : { matchExpressions: [{ key: label, operator: 'Exists' }] };
  return { resourceRules: [rule], ...(selector && { objectSelector: selector }) };
}
