import { apiVersion, labels } from '../../crds/labels.ts';
import { limits } from '../../crds/limits.ts';
import type { GitBinding } from '../../crds/schema/git-binding.ts';
import type { Volume } from '../../crds/schema/volume.ts';
import { shortHash } from '../../lib/ids.ts';
import type { Pod } from '../../lib/kube/index.ts';
import { labelValue } from '../../lib/pod-slot.ts';
import { runner } from '../../lib/tools/pod/run-file-tool.ts';
import { buildPod, type PodSettings } from '../step-pods/template.ts';
import type { BegunJob } from './decide.ts';
import { gitLimits } from './limits.ts';

export interface GitPodSettings extends PodSettings {
  /** Image with git, ssh and authorities. */
  readonly gitImage: string;
  /** Internal networks that the operator opened for git servers. */
  readonly networks: readonly string[];
  /** Networks of nodes, pods and Services, of which no wider network opens an address (ADR 0110). */
  readonly clusterNetworks: readonly string[];
}

const folders = { volume: '/files', scratch: '/work', credentials: '/windlass-git' } as const;
const credentialsVolume = 'credentials';
/** Keys of a Secret that a pod sees; another key of it is in no pod. */
const secretKeys = ['host', 'username', 'password', 'token', 'ssh-privatekey', 'known_hosts', 'ca.crt'] as const;

/** The operations that reach the server. They alone get the Secret, and none of them reads files that a tenant writes. */
const reachesServer: Readonly<Record<BegunJob['op'], boolean>> = {
  sync: true,
  push: true,
  commit: false,
  status: false,
  diff: false,
};

/** The same for each attempt at an operation. */
const jobKey = ({ metadata: { uid = '' } }: GitBinding, { id, startedAt }: BegunJob): string =>
  shortHash(`${uid} ${id} ${startedAt}`, 20);
const key = ({ metadata: { uid = '' } }: GitBinding, { id, attempt, startedAt }: BegunJob): string =>
  shortHash(`${uid} ${id} ${startedAt} ${attempt}`, 20);

/** The same for the same pod of an operation, so that it is made once. */
export const gitPodName = (binding: GitBinding, job: BegunJob): string =>
  `git-${binding.metadata.name.slice(0, 30).replace(/[^a-z0-9]+$/, '')}-${key(binding, job)}`;

/** The pod of one operation: that of a step (design §6), whose command is `runner git`. It holds no finalizer. */
export function buildGitPod(binding: GitBinding, volume: Volume, job: BegunJob, settings: GitPodSettings): Pod {
  const { name, namespace = '', uid = '' } = binding.metadata;
  const owner = {
    apiVersion,
    kind: 'GitBinding',
    name,
    namespace,
    uid,
    labels: { [labels.executionUid]: uid, [labels.gitBinding]: labelValue(name) },
  };
  const podName = { name: gitPodName(binding, job), labels: {}, annotations: {} };
  const pod = buildPod(owner, podName, planOf(binding, volume, job, settings), settings);
  const { finalizers: _held, ...metadata } = pod.metadata;
  const withDeadline = { ...pod.spec, activeDeadlineSeconds: gitLimits.seconds + gitLimits.queueMs / 1_000 };
  const secret = secretOf(job);
  return { ...pod, metadata, spec: secret === undefined ? withDeadline : withSecret(withDeadline, secret) };
}

const planOf = (binding: GitBinding, volume: Volume, job: BegunJob, settings: GitPodSettings) => ({
  image: settings.gitImage,
  imagePullPolicy: 'IfNotPresent' as const,
  argv: [runner, 'git', JSON.stringify(requestOf(binding, job, settings))],
  env: {},
  workdir: folders.scratch,
  mounts: [{ claim: volume.status?.claim_name ?? '', mountPath: folders.volume, readOnly: false }],
  memory: gitLimits.memory,
  timeoutMs: (gitLimits.seconds + gitLimits.graceSeconds) * 1_000,
});

/** A request to `runner git`. It is an argument of a process: nothing of the Secret is in it. */
function requestOf(binding: GitBinding, job: BegunJob, { networks, clusterNetworks }: GitPodSettings) {
  const { repo_url: url, size_limit_mb: mb = limits.gitVolumeMbDefault, author } = binding.spec;
  const { ref = '', depth } = job.source;
  return {
    op: job.op,
    id: key(binding, job),
    job: jobKey(binding, job),
    url,
    ref,
    depth,
    limit_bytes: mb * 1_048_576,
    seconds: gitLimits.seconds,
    networks,
    cluster_networks: clusterNetworks,
    message: job.message ?? '',
    author: author ?? { name: 'Windlass', email: 'windlass@windlass.invalid' },
    root: folders.volume,
    scratch: folders.scratch,
    credentials: secretOf(job) === undefined ? '' : folders.credentials,
  };
}

const secretOf = ({ op, source }: BegunJob): string | undefined => (reachesServer[op] ? source.secret : undefined);

/** A Secret or a key that is not there is for the runner to tell: the kubelet would let the pod wait. */
function withSecret(spec: Pod['spec'], secretName: string): Pod['spec'] {
  const items = secretKeys.map((name) => ({ key: name, path: name }));
  return {
    ...spec,
    containers: spec.containers.map((container) => ({
      ...container,
      volumeMounts: [
        ...(container.volumeMounts ?? []),
        { name: credentialsVolume, mountPath: folders.credentials, readOnly: true },
      ],
    })),
    volumes: [
      ...(spec.volumes ?? []),
      { name: credentialsVolume, secret: { secretName, optional: true, defaultMode: 0o440, items } },
    ],
  };
}
