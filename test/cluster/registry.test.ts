import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StateOf } from '../../crds/schema/state.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { configMaps, events, pods, secrets } from '../../lib/kube/index.ts';
import { aScript, aWorkflow } from '../builders/workflow-builder.ts';
import { kubeconfigPath } from './harness/cluster.ts';
import type { Controllers } from './harness/controllers.ts';
import { ensureWorkflow, startExecution, waitUntilFinished } from './harness/executions.ts';
import { workflowExecutions, workflows } from './harness/kinds.ts';
import { openStage, type Stage } from './harness/stage.ts';
import { windlass } from './outputs/command-line.ts';
import { type Login, type PrivateRegistry, startPrivateRegistry } from './registry/private-registry.ts';

/** Nodes of a native cluster ask the machine itself for images over plain HTTP (dev/README.md). */
const machine = /server: *https:\/\/(172\.30\.\d+\.1):/.exec(readFileSync(kubeconfigPath(), 'utf8'))?.[1];

const basic = ({ username, password }: Login): string => Buffer.from(`${username}:${password}`).toString('base64');

/** Everything that a command can read of itself and of the files around it. */
const lookAround = `env; cat /proc/self/mountinfo; tr '\\0' '\\n' </proc/1/environ; tr '\\0' ' ' </proc/1/cmdline
  find / \\( -path /proc -o -path /sys -o -path /dev \\) -prune -o -type f -size -64k -print -exec cat {} \\;`;

describe.skipIf(machine === undefined)('WF-CR-16 images of a private registry', () => {
  let stage: Stage;
  let registry: PrivateRegistry;
  let controllers: Controllers;

  beforeAll(async () => {
    registry = await startPrivateRegistry(`${machine}:5000`);
    stage = await openStage('registry');
    const env = { WINDLASS_LOG_LEVEL: 'debug' };
    controllers = await stage.controllers(await stage.proxy('registry'), env);
    await makeSecret('right', registry.login);
    await makeSecret('wrong', { ...registry.login, password: 'a-wrong-password' });
  }, 600_000);
  afterAll(async () => {
    await stage?.strike();
    await registry?.stop();
  });

  async function makeSecret(name: string, login: Login): Promise<void> {
    const auths = { [registry.host]: { ...login, auth: basic(login) } };
    await stage.kube.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: stage.namespace },
      type: 'kubernetes.io/dockerconfigjson',
      data: { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') },
    });
  }

  async function run(name: string, state: StateOf<'ContainerRun'>): Promise<WorkflowExecution> {
    const { kube, namespace } = stage;
    const workflow = aWorkflow(name).state('step', state).build();
    await ensureWorkflow(kube, { ...workflow, metadata: { name, namespace } });
    await startExecution(kube, { namespace, name }, { workflow: name });
    return waitUntilFinished(kube, { namespace, name }, { timeoutMs: 120_000 });
  }

  const lastVisit = ({ status }: WorkflowExecution) => status?.history?.at(-1);

  it('run with the right credentials', async () => {
    const image = await registry.push('team/right', '1');
    const { status } = await run('right', aScript('echo pulled', { image, registry_credentials: 'right' }));
    expect(status?.blackboard?.['step']?.value).toMatchObject({ stdout: 'pulled\n', exit_code: 0 });
  });

  it.each<[title: string, secret?: string]>([
    ['wrong credentials', 'wrong'],
    ['a secret that is not there', 'absent'],
    ['no credentials'],
  ])('AMB-190 never start within queue_timeout, and say the name of the image: %s', async (_title, secret) => {
    const name = `refused-${secret ?? 'none'}`;
    const image = await registry.push(`team/${name}`, '1');
    const credentials = secret === undefined ? {} : { registry_credentials: secret };
    const visit = lastVisit(await run(name, aScript('echo never', { image, queue_timeout: '12s', ...credentials })));
    expect(visit).toMatchObject({ status: 'failed', reason: 'NeverStarted' });
    expect(visit?.message).toContain(image);
  });

  // Each has an image of its own, and waits for most of its time.
  it.concurrent.each(['IfNotPresent', 'Never'] as const)(
    'are not run with wrong credentials from what the right ones have left on the node, though the manifest says %s',
    async (policy) => {
      const name = `cached-${policy.toLowerCase()}`;
      const image = await registry.push(`team/${name}`, '1');
      await run(name, aScript('true', { image, registry_credentials: 'right/.dockerconfigjson' }));
      const fields = { image, registry_credentials: 'wrong', image_pull_policy: policy, queue_timeout: '12s' };
      const visit = lastVisit(await run(`${name}-wrong`, aScript('true', fields)));
      expect(visit).toMatchObject({ status: 'failed', reason: 'NeverStarted' });
    },
  );

  it('leave no credential in the container, the pod, status, Events, outputs or the log of the controllers', async () => {
    const image = await registry.push('team/look', '1');
    const step = aScript(lookAround, { image, registry_credentials: 'right', volumes: [] });
    const execution = await run('look', step);
    expect(execution.status?.phase).toBe('completed');
    const { kube, namespace } = stage;
    const lists = [pods, events, configMaps, workflows, workflowExecutions].map((resource) =>
      kube.listAll(resource, { namespace }),
    );
    const { stdout, stderr } = await windlass(namespace, ['logs', 'look']);
    const inside = stdout.toString() + stderr.toString();
    expect(inside).toContain('/etc/passwd');
    expect(inside).toContain('HOSTNAME=');
    const { items } = await kube.listAll(configMaps, { namespace, labelSelector: 'windlass.dev/execution-uid' });
    const blobs = items.map(({ binaryData }) =>
      gunzipSync(Buffer.from(binaryData?.['gzip'] ?? '', 'base64')).toString(),
    );
    expect(blobs).not.toEqual([]);
    const everything = {
      inside,
      objects: JSON.stringify(await Promise.all(lists)),
      blobs: blobs.join('\n'),
      log: await readFile(controllers.logFile, 'utf8'),
    };
    expect(everything.objects).toContain('"imagePullSecrets"');
    for (const secret of [registry.login.password, basic(registry.login), 'a-wrong-password']) {
      for (const [place, text] of Object.entries(everything)) {
        expect(text.includes(secret), `a credential in ${place}`).toBe(false);
      }
    }
  });
});
