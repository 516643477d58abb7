import type { KubeClient, ObjectRef } from '../../../lib/kube/index.ts';

/** Everything that the container of a pod has written. */
export async function podLog(kube: Pick<KubeClient, 'readLog'>, ref: ObjectRef): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of kube.readLog(ref)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
