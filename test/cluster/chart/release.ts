import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type KubeClient, namespaces, type Pod, pods } from '../../../lib/kube/index.ts';
import { kubeconfigPath } from '../harness/cluster.ts';
import { projectDir } from '../harness/project.ts';
import { programPath } from '../outputs/programs.ts';
import { helm, releaseNamespace } from './rendering.ts';

const run = promisify(execFile);

/** Installs the release of the development cluster, or upgrades it; `options` go to Helm. */
export async function install(...options: string[]): Promise<void> {
  await run(join(projectDir, 'dev/demo/install'), options, { cwd: projectDir, maxBuffer: 32 * 1024 * 1024 });
}

/** Helm on the release of the development cluster. */
export const helmRelease = (command: string, ...rest: string[]): Promise<string> =>
  helm(command, 'windlass', ...rest, '--namespace', releaseNamespace, '--kubeconfig', kubeconfigPath());

/** Upgrades the release and keeps its values but for `values`, such as `api.replicaCount=2`. */
export async function upgrade(to: string, ...values: string[]): Promise<void> {
  await helmRelease('upgrade', to, '--reuse-values', '--force-conflicts', ...values.flatMap((each) => ['--set', each]));
}

/** Pods of one component of the release that are to stay. */
export async function podsOf(kube: KubeClient, component: string): Promise<Pod[]> {
  const selection = { namespace: releaseNamespace, labelSelector: `app.kubernetes.io/component=${component}` };
  const { items } = await kube.listAll(pods, selection);
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

/** Replaces the pods of a Deployment of the release, such as `relay`; resolves when the former ones are gone. */
export async function rollOut(kube: KubeClient, component: string): Promise<void> {
  const kubectl = await programPath('kubectl');
  const of = ['--kubeconfig', kubeconfigPath(), '--namespace', releaseNamespace];
  const before = (await podsOf(kube, component)).map(({ metadata }) => `pod/${metadata.name}`);
  await run(kubectl, [...of, 'rollout', 'restart', `deployment/windlass-${component}`]);
  await run(kubectl, [...of, 'rollout', 'status', `deployment/windlass-${component}`, '--timeout=90s']);
  await run(kubectl, [...of, 'wait', '--for=delete', '--timeout=60s', ...before]);
}

/** A namespace with the Pod Security of tenants and without a tenant. */
export async function makeForeignNamespace(kube: KubeClient, name: string): Promise<void> {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await kube.apply(namespaces, { metadata: { name, labels } }, { fieldManager: 'test', force: true });
}
