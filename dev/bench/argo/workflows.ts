import type { KubeClient } from '../../../lib/kube/index.ts';
import { observe } from '../../../test/cluster/harness/observer.ts';
import { image } from '../bare-pods.ts';
import { type ArgoWorkflow, argoWorkflows } from './definitions.ts';

type Template = Readonly<Record<string, unknown>> & { readonly name: string };

/** A container with what Pod Security level restricted asks for, as the steps of Windlass have it. */
const container = (command: readonly string[], env: readonly object[] = []): object => ({
  image,
  imagePullPolicy: 'IfNotPresent',
  command,
  env,
  securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
});

const one: Template = { name: 'one', container: container(['true']) };

/** Workflows of Argo; the first template of each is where it begins. */
export const oneStep: readonly Template[] = [one];

export const chainOfSteps = (length: number): readonly Template[] => [
  { name: 'chain', steps: Array.from({ length }, (_, i) => [{ name: `s${i + 1}`, template: 'one' }]) },
  one,
];

export const fanOutAndJoin = (width: number): readonly Template[] => [
  {
    name: 'fan-out',
    steps: [
      Array.from({ length: width }, (_, i) => ({ name: `step${i + 1}`, template: 'one' })),
      [{ name: 'join', template: 'one' }],
    ],
  },
  one,
];

/** The least that Argo can do without a pod. */
export const withoutPod: readonly Template[] = [{ name: 'wait', suspend: { duration: '0' } }];

/** A step writes a parameter, and the next one has it in its environment. */
export const passed = (write: string, read: string): readonly Template[] => [
  {
    name: 'pass',
    steps: [
      [{ name: 'write', template: 'write' }],
      [
        {
          name: 'read',
          template: 'read',
          arguments: { parameters: [{ name: 'text', value: '{{steps.write.outputs.parameters.text}}' }] },
        },
      ],
    ],
  },
  {
    name: 'write',
    container: container(['sh', '-c', `${write} > /tmp/text`]),
    outputs: { parameters: [{ name: 'text', valueFrom: { path: '/tmp/text' } }] },
  },
  {
    name: 'read',
    inputs: { parameters: [{ name: 'text' }] },
    container: container(['sh', '-c', read], [{ name: 'TEXT', value: '{{inputs.parameters.text}}' }]),
  },
];

const specOf = (templates: readonly Template[]): object => ({
  entrypoint: templates[0]?.name,
  automountServiceAccountToken: true,
  securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
  templates,
});

/** Seconds from the first create until a watch has shown the last of them as succeeded. */
export async function runArgo(
  { kube, namespace }: { readonly kube: KubeClient; readonly namespace: string },
  templates: readonly Template[],
  count = 1,
): Promise<number> {
  const observer = await observe(kube, { resource: argoWorkflows, namespace });
  const done = new Set<string>();
  const started = performance.now();
  const created = Array.from({ length: count }, () =>
    kube.create(argoWorkflows, { metadata: { namespace, generateName: 'argo-' }, spec: specOf(templates) }),
  );
  const finished = observer.until(
    (_view, changed) => {
      if (changed !== undefined && hasSucceeded(changed)) done.add(changed.metadata.uid ?? '');
      return done.size >= count ? true : undefined;
    },
    { timeoutMs: 900_000, what: `${count} workflows of Argo` },
  );
  await Promise.all([...created, finished]);
  const seconds = (performance.now() - started) / 1000;
  await observer.stop();
  return seconds;
}

function hasSucceeded({ metadata, status }: ArgoWorkflow): boolean {
  if (status?.phase === 'Failed' || status?.phase === 'Error') {
    throw new Error(`workflow ${metadata.name} of Argo failed: ${status.message}`);
  }
  return status?.phase === 'Succeeded';
}
