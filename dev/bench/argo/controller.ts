import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import {
  configMaps,
  defineResource,
  type KubeClient,
  networkPolicies,
  type Role,
  roleBindings,
} from '../../../lib/kube/index.ts';
import { forgetProcess, recordProcess } from '../../../test/cluster/harness/process-record.ts';
import { buildDir, projectDir } from '../../../test/cluster/harness/project.ts';
import { programPath } from '../../../test/cluster/outputs/programs.ts';

const run = promisify(execFile);

const roles = defineResource<Role>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'roles',
  kind: 'Role',
  namespaced: true,
});

/** Without it the pods of Argo break Pod Security level restricted. */
const restrictedExecutor = `securityContext:
  allowPrivilegeEscalation: false
  capabilities: { drop: [ALL] }
`;

/**
 * The controller's own configuration, which it does not start without, and rights for the containers of Argo in step pods:
 * they write their results to the API server.
 */
export async function prepareNamespace(kube: KubeClient, namespace: string): Promise<void> {
  const metadata = { namespace, name: 'argo-executor' };
  const results = { apiGroups: ['argoproj.io'], resources: ['workflowtaskresults'], verbs: ['create', 'patch'] };
  await kube.create(roles, { metadata, rules: [results] });
  await kube.create(roleBindings, {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name },
    subjects: [{ kind: 'ServiceAccount', name: 'default', namespace }],
  });
  await kube.create(configMaps, {
    metadata: { namespace, name: 'workflow-controller-configmap' },
    data: { metricsConfig: 'enabled: false\n', executor: restrictedExecutor },
  });
  await kube.create(networkPolicies, {
    metadata,
    spec: { podSelector: {}, policyTypes: ['Egress'], egress: [{}] },
  });
}

/** Puts the image of the executor on the nodes, and answers its name. */
export async function loadExecutor(): Promise<string> {
  await programPath('argo-workflows');
  const images = join(projectDir, 'dev', 'images');
  const { stdout: tar } = await run(join(images, 'build'), ['argo-workflows']);
  await run(join(images, 'load'), [tar.trim()]);
  const script = 'source "$1/dev/setup/programs.sh" && program_version argo-workflows';
  const { stdout: version } = await run('bash', ['-c', script, 'bash', projectDir]);
  return `windlass.local/argoexec:${version.trim()}`;
}

/** Settings of a run of Argo's controller: its defaults alone, or those that make short steps quick. */
export type ArgoSettings = 'defaults' | 'quick';

interface ControllerOptions {
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly executorImage: string;
  readonly settings: ArgoSettings;
}

/** A step that ends is looked at after a second instead of ten: its source names no shorter time. Ten times the requests. */
const quick = { args: ['--qps', '200', '--burst', '300'], env: { DEFAULT_REQUEUE_TIME: '1s' } };

export interface ArgoController {
  readonly pid: number;
  /** The result of `work`; throws where the process ends meanwhile. */
  during<R>(work: () => Promise<R>): Promise<R>;
  stop(): Promise<void>;
}

/** The controller of Argo as a process of this machine, as the controllers of Windlass are one beside it. */
export async function startArgo(options: ControllerOptions): Promise<ArgoController> {
  const { kubeconfig, namespace, executorImage, settings } = options;
  const further = settings === 'quick' ? quick : { args: [], env: {} };
  const program = join(await programPath('argo-workflows'), '..', 'workflow-controller');
  const own = ['--kubeconfig', kubeconfig, '--namespace', namespace, '--loglevel', 'warn'];
  const scope = ['--namespaced', '--managed-namespace', namespace];
  const executor = ['--executor-image', executorImage, '--executor-image-pull-policy', 'IfNotPresent'];
  const args = [...own, ...scope, ...executor, ...further.args];
  await mkdir(join(buildDir, 'controllers'), { recursive: true });
  const child = spawn(program, args, {
    env: { LEADER_ELECTION_DISABLE: 'true', ...further.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const gone = once(child, 'exit');
  const logFile = join(buildDir, 'controllers', `argo-${process.pid}-${settings}.log`);
  const log = createWriteStream(logFile);
  child.stdout.pipe(log);
  child.stderr.pipe(log);
  await once(child, 'spawn');
  const pid = child.pid ?? 0;
  await recordProcess(pid, `argo ${settings}`);
  child.on('exit', () => void forgetProcess(pid));
  return {
    pid,
    during: (work) => Promise.race([work(), gone.then(() => fail(logFile))]),
    async stop() {
      // It ends at once by this signal, since it holds nothing that has to be given back.
      child.kill('SIGTERM');
      await gone;
    },
  };
}

function fail(logFile: string): never {
  throw new Error(`the controller of Argo has ended; see ${logFile}`);
}
