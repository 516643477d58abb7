import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { promisify } from 'node:util';
import type { AgentExecution } from '../../../../crds/schema/agent-execution.ts';
import { type KubeClient, type ObjectRef, type Pod, pods } from '../../../../lib/kube/index.ts';
import type { SigningSession } from '../../gateway/stage.ts';
import { kubeconfigPath } from '../../harness/cluster.ts';
import { forwardTo } from '../../harness/installed-api.ts';
import { waitForObject } from '../../harness/wait.ts';
import { programPath } from '../../outputs/programs.ts';

const run = promisify(execFile);

/**
 * The session of a pod that runs a program of its own in place of the runner: it attests with the token that the node of the
 * pod gets for it. The pod needs a node, and need not have begun.
 */
export async function attestAsPod(kube: KubeClient, execution: AgentExecution): Promise<SigningSession> {
  const { namespace = '', uid: executionId = '' } = execution.metadata;
  const { pod, agent } = execution.status ?? {};
  const token = await tokenOfPod(kube, { namespace, name: pod?.name ?? '' });
  const { publicKey, privateKey: key } = generateKeyPairSync('ed25519');
  const body = {
    agent_id: agent?.uid,
    execution_id: executionId,
    container_id: pod?.uid,
    agent_public_key: publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64'),
  };
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const internal = await forwardTo('windlass-api-internal', 8_081);
  const request = { method: 'POST', headers, body: JSON.stringify(body) };
  try {
    const response = await fetch(`${internal.server}/v1/seal/attest`, request);
    const answer = (await response.json()) as { readonly security_token?: string };
    if (answer.security_token === undefined) throw new Error(`not attested: ${JSON.stringify(answer)}`);
    return { executionId, token: answer.security_token, key };
  } finally {
    await internal.close();
  }
}

/** Admission lets nodes alone ask for such a token, each for its own pods. */
async function tokenOfPod(kube: KubeClient, place: Required<ObjectRef>): Promise<string> {
  const isPlaced = ({ spec }: Pod): boolean => spec.nodeName !== undefined;
  const { metadata, spec } = await waitForObject(kube, { resource: pods, ...place }, isPlaced);
  const account = [
    'create',
    'token',
    'windlass-agent',
    '--namespace',
    place.namespace,
    '--audience',
    'windlass-agents',
  ];
  const object = [
    '--bound-object-kind',
    'Pod',
    '--bound-object-name',
    place.name,
    '--bound-object-uid',
    metadata.uid ?? '',
  ];
  const node = ['--as', `system:node:${spec.nodeName}`, '--as-group', 'system:nodes'];
  const given = ['--kubeconfig', kubeconfigPath(), ...account, ...object, ...node];
  return (await run(await programPath('kubectl'), given)).stdout.trim();
}
