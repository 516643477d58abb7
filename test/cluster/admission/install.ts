import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseAllDocuments } from 'yaml';
import { admissionPolicies } from '../../../crds/admission/policies.ts';
import { kinds } from '../../../crds/kinds.ts';
import { fullWorkflow } from '../../bad-manifests/full-workflow.ts';
import { projectDir } from '../harness/project.ts';
import type { Send } from './api.ts';

interface Named {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

const collections: Readonly<Record<string, string>> = {
  CustomResourceDefinition: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  MutatingAdmissionPolicy: '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies',
  MutatingAdmissionPolicyBinding: '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings',
  ValidatingAdmissionPolicy: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
  ValidatingAdmissionPolicyBinding: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
};

/** Applies the committed definitions and policies, and waits until the server enforces them. */
export async function installDefinitions(send: Send, namespace: string): Promise<void> {
  const files = [
    ...kinds.map(({ plural }) => `${plural}.yaml`),
    ...[...admissionPolicies().keys()].map((name) => `admission/${name}.yaml`),
  ];
  for (const file of files) {
    const text = await readFile(join(projectDir, 'crds/generated', file), 'utf8');
    const objects = parseAllDocuments(text).map((document) => document.toJS() as Named);
    for (const object of objects) if (await isServed(send, object)) await apply(send, object);
  }
  await eventually('the policies to be enforced', async () => {
    const workflow = fullWorkflow();
    workflow.spec.states['done'] = { kind: 'System', command: '', transitions: [] };
    const { status } = await send('POST', `${workflowsIn(namespace)}?dryRun=All`, workflow);
    return status === 422;
  });
  await eventually('the policy on executions to be enforced', async () => {
    const parent = { name: 'p', uid: 'u', state: 's', visit: 1, depth: 1 };
    const { status } = await send('POST', `${executionsIn(namespace)}?dryRun=All`, execution({ parent }));
    return status === 403;
  });
}

/** Kubernetes before 1.36 has no policies that change objects. */
export async function isServed(send: Send, { kind }: Pick<Named, 'kind'>): Promise<boolean> {
  return (await send('GET', `${collections[kind] ?? ''}?limit=1`)).status === 200;
}

const manager = 'admission-test';

/**
 * Applies an object that is not there or that an earlier run made. One that the chart installed stays the chart's: the
 * test only makes sure that it says the same, since taking its fields over would break the next upgrade.
 */
async function apply(send: Send, object: Named): Promise<void> {
  const path = `${collections[object.kind] ?? ''}/${object.metadata.name}`;
  const { body } = await send('GET', path);
  const { managedFields = [] } = (body['metadata'] ?? {}) as {
    managedFields?: { manager: string; subresource?: string }[];
  };
  const isForeign = managedFields.some((entry) => entry.subresource === undefined && entry.manager !== manager);
  const name = `${object.kind} ${object.metadata.name}`;
  if (isForeign) {
    if (holds(body['spec'], (object as unknown as { spec: unknown }).spec)) return;
    throw new Error(`${name} differs from the generated file: install the chart again`);
  }
  const query = `fieldManager=${manager}&force=true`;
  const answer = await send('PATCH', `${path}?${query}`, object, { contentType: 'application/apply-patch+yaml' });
  if (answer.status >= 300) throw new Error(`${name} was refused: ${answer.message}`);
}

/** Whether a value has everything that another one says; the server fills in defaults. */
function holds(value: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return value === wanted;
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(wanted) && wanted.length !== (value as unknown[]).length) return false;
  return Object.entries(wanted).every(([key, want]) => holds((value as Record<string, unknown>)[key], want));
}

/** Asks until the answer is yes; fails after 30 s. */
export async function eventually(what: string, ask: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 30_000;
  while (!(await ask())) {
    if (Date.now() > end) throw new Error(`waited 30 s for ${what}`);
    await sleep(100);
  }
}

const base = '/apis/windlass.dev/v1/namespaces';
export const workflowsIn = (namespace: string): string => `${base}/${namespace}/workflows`;
export const executionsIn = (namespace: string): string => `${base}/${namespace}/workflowexecutions`;
export const volumesIn = (namespace: string): string => `${base}/${namespace}/volumes`;

/** An execution with the given spec fields; the server names it. */
export const execution = (spec: object): object => ({
  apiVersion: 'windlass.dev/v1',
  kind: 'WorkflowExecution',
  metadata: { generateName: 'run-' },
  spec: { workflow: 'w', ...spec },
});
