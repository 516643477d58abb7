import { captureFinalizer, labels } from '../../crds/labels.ts';
import type { Container, Pod, PodSpec, PodVolume, ResourceAmounts, VolumeMount } from '../../lib/kube/index.ts';
import { stepContainer } from '../../lib/pod-slot.ts';
import { withoutTrailingSlashes } from '../../lib/trailing-slashes.ts';
import type { StepOwner, StepPodName, StepPlan } from './step.ts';

/** An operator's settings for all step pods. */
export interface PodSettings {
  /** Image whose root holds the static binary `runner`. */
  readonly runnerImage: string;
  /** Image for System commands; it has a shell. */
  readonly systemImage: string;
  /** The server can mount images as volumes (Kubernetes ≥ 1.35); otherwise an init container copies the runner. */
  readonly imageVolumes: boolean;
  /** User and group that commands run as; root is never an option here. */
  readonly runAsUser: number;
  /** Size limit of a working directory that no volume holds. */
  readonly workdirSize: string;
  /** Pull every image that a workflow names each time, so that the registry sees the credentials of each step. */
  readonly alwaysPull: boolean;
  /** Defaults of a step. */
  readonly defaultResources: ResourceAmounts;
  /** Seconds that a pod stays on a node that does not answer before it counts as lost. */
  readonly nodeLostSeconds: number;
  /** Asks autoscalers to leave a node alone while a step runs there (requirements AMB-191). */
  readonly doNotDisrupt?: boolean;
}

const runnerVolume = 'runner';
const runnerFolder = '/windlass';
const workdirVolume = 'workdir';

/** Between SIGTERM and the end of the pod, in seconds; the runner kills its command before that. */
const podGraceSeconds = 15;
const commandGraceSeconds = 10;

/**
 * The pod of one step. A user chooses what the plan holds and nothing else: no service-account token, no
 * capabilities, no root, no privilege escalation (design §6).
 */
export function buildPod(owner: StepOwner, pod: StepPodName, plan: StepPlan, settings: PodSettings): Pod {
  const { apiVersion, kind, name, namespace, uid } = owner;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: pod.name,
      namespace,
      labels: { [labels.managedBy]: 'windlass', ...owner.labels, ...pod.labels },
      annotations: { ...pod.annotations, ...(settings.doNotDisrupt === true ? leaveAlone : {}) },
      finalizers: [captureFinalizer],
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
    },
    spec: podSpec(plan, settings),
  };
}

/** In the words of the Cluster Autoscaler and of Karpenter. */
const leaveAlone = {
  'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
  'karpenter.sh/do-not-disrupt': 'true',
} as const;

function podSpec(plan: StepPlan, settings: PodSettings): PodSpec {
  const { registryCredentials } = plan;
  return {
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: podGraceSeconds,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: settings.runAsUser,
      runAsGroup: settings.runAsUser,
      fsGroup: settings.runAsUser,
      fsGroupChangePolicy: 'OnRootMismatch',
      seccompProfile: { type: 'RuntimeDefault' },
    },
    tolerations: ['not-ready', 'unreachable'].map((condition) => ({
      key: `node.kubernetes.io/${condition}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: settings.nodeLostSeconds,
    })),
    containers: [container(plan, settings)],
    volumes: volumes(plan, settings),
    ...(settings.imageVolumes ? {} : { initContainers: [copyRunner(settings)] }),
    ...(registryCredentials === undefined ? {} : { imagePullSecrets: [{ name: registryCredentials }] }),
  };
}

function container(plan: StepPlan, settings: PodSettings): Container {
  const seconds = Math.ceil(plan.timeoutMs / 1_000);
  return {
    name: stepContainer,
    image: plan.image ?? settings.systemImage,
    imagePullPolicy: pullPolicy(plan, settings),
    command: [
      `${runnerFolder}/runner`,
      'run',
      `--workdir=${plan.workdir}`,
      `--timeout=${seconds}s`,
      `--grace=${commandGraceSeconds}s`,
      '--',
      ...plan.argv.map(literal),
    ],
    env: Object.entries(plan.env).map(([name, value]) => ({ name, value: literal(value) })),
    volumeMounts: mounts(plan),
    resources: resources(plan, settings),
    securityContext: containerSecurity,
  };
}

/**
 * An image that is on the node already runs without a request to its registry, unless the kubelet verifies credentials
 * (Kubernetes 1.35, `imagePullCredentialsVerificationPolicy`). A step that names credentials shows them each time.
 */
function pullPolicy({ image, imagePullPolicy, registryCredentials }: StepPlan, { alwaysPull }: PodSettings) {
  const isAsked = registryCredentials !== undefined || (alwaysPull && image !== undefined);
  return isAsked ? 'Always' : imagePullPolicy;
}

/** The kubelet fills `$(NAME)` in and makes `$` of `$$`; with each `$` doubled it leaves a text as the user wrote it. */
const literal = (text: string): string => text.replaceAll('$', '$$$$');

const containerSecurity = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } as const;

function mounts(plan: StepPlan): VolumeMount[] {
  const names = claimVolumes(plan);
  const all: VolumeMount[] = plan.mounts.map(({ claim, mountPath, readOnly }) => ({
    name: names.get(claim) ?? claim,
    mountPath,
    readOnly,
  }));
  if (needsWorkdir(plan)) all.push({ name: workdirVolume, mountPath: plan.workdir });
  all.push({ name: runnerVolume, mountPath: runnerFolder, readOnly: true });
  return all;
}

/** Where no volume holds the working directory, an empty one does, so that the command can write there. */
const needsWorkdir = ({ mounts: mounted, workdir }: StepPlan): boolean =>
  workdir !== '/' &&
  !mounted.some(({ mountPath }) => `${workdir}/`.startsWith(`${withoutTrailingSlashes(mountPath)}/`));

/** Names of the pod's volumes by claim: a claim's own name may be longer than a volume's. */
function claimVolumes(plan: StepPlan): Map<string, string> {
  const claims = new Set(plan.mounts.map(({ claim }) => claim));
  return new Map([...claims].map((claim, index) => [claim, `claim-${index}`]));
}

function volumes(plan: StepPlan, settings: PodSettings): PodVolume[] {
  const all: PodVolume[] = [...claimVolumes(plan)].map(([claimName, name]) => ({
    name,
    persistentVolumeClaim: { claimName },
  }));
  if (needsWorkdir(plan)) all.push({ name: workdirVolume, emptyDir: { sizeLimit: settings.workdirSize } });
  all.push(
    settings.imageVolumes
      ? { name: runnerVolume, image: { reference: settings.runnerImage, pullPolicy: 'IfNotPresent' } }
      : { name: runnerVolume, emptyDir: { sizeLimit: '64Mi' } },
  );
  return all;
}

function copyRunner({ runnerImage }: PodSettings): Container {
  return {
    name: 'copy-runner',
    image: runnerImage,
    imagePullPolicy: 'IfNotPresent',
    command: ['/runner', 'copy', `${runnerFolder}/runner`],
    volumeMounts: [{ name: runnerVolume, mountPath: runnerFolder }],
    resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '32Mi' } },
    securityContext: { ...containerSecurity, readOnlyRootFilesystem: true },
  };
}

/** A limit that the user names is also what the scheduler reserves. */
function resources({ cpuMillis, memory }: StepPlan, { defaultResources }: PodSettings): ResourceAmounts {
  const asked = {
    ...(cpuMillis === undefined ? {} : { cpu: `${cpuMillis}m` }),
    ...(memory === undefined ? {} : { memory }),
  };
  return {
    requests: { ...defaultResources.requests, ...asked },
    limits: { ...defaultResources.limits, ...asked },
  };
}
