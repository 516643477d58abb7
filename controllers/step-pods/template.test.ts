import { describe, expect, it } from 'vitest';
import { captureFinalizer, labels } from '../../crds/labels.ts';
import { buildPod, type PodSettings } from './template.ts';
import type { StepOwner, StepPlan } from './step.ts';

const settings: PodSettings = {
  runnerImage: 'runner:1',
  systemImage: 'busybox:1',
  imageVolumes: true,
  runAsUser: 65_532,
  defaultResources: { requests: { cpu: '10m', memory: '16Mi' } },
  nodeLostSeconds: 60,
  workdirSize: '4Gi',
  alwaysPull: false,
};
const plan = (fields: Partial<StepPlan> = {}): StepPlan => ({
  image: 'app:1',
  imagePullPolicy: 'IfNotPresent',
  argv: ['true'],
  env: {},
  workdir: '/workspace',
  mounts: [],
  timeoutMs: 300_000,
  ...fields,
});
/** An owner of a kind that this folder does not know. */
const owner: StepOwner = {
  apiVersion: 'windlass.dev/v1',
  kind: 'Agent',
  name: 'ann',
  namespace: 'team-a',
  uid: 'u1',
  labels: { [labels.executionUid]: 'u1', 'windlass.dev/agent': 'ann' },
};
const named = { name: 'ann-7', labels: { [labels.attempt]: '3' }, annotations: { note: 'x' } };
const pod = (fields?: Partial<StepPlan>, more: Partial<PodSettings> = {}) =>
  buildPod(owner, named, plan(fields), { ...settings, ...more });
const [container] = pod().spec.containers;

describe('the pod of a step', () => {
  it('WF-CR-01 has one container, no init container, and is never restarted', () => {
    const { spec } = pod();
    expect(spec.containers).toHaveLength(1);
    expect(spec.initContainers).toBeUndefined();
    expect(spec.restartPolicy).toBe('Never');
  });

  it('GEN-07 holds no credential: no service-account token, and no environment but the plan', () => {
    const { spec } = pod({ env: { A: '1' } });
    expect(spec.automountServiceAccountToken).toBe(false);
    expect(spec.enableServiceLinks).toBe(false);
    expect(spec.containers[0]?.env).toEqual([{ name: 'A', value: '1' }]);
    expect(JSON.stringify(spec.volumes)).not.toMatch(/secret|projected|configMap|hostPath/);
  });

  it('claims no device: its resources are processor and memory', () => {
    const { spec } = pod({ cpuMillis: 250, memory: '1Gi' });
    expect(Object.keys(spec)).not.toContain('resourceClaims');
    expect(Object.keys(spec.containers[0]?.resources ?? {}).toSorted()).toEqual(['limits', 'requests']);
  });

  it('meets the restricted Pod Security level', () => {
    expect(pod().spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 65_532,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(container?.securityContext).toEqual({ allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } });
  });

  it('is labelled as its owner and its step say, held until captured, and deleted with its owner', () => {
    const { metadata } = pod();
    expect(metadata).toMatchObject({ name: 'ann-7', namespace: 'team-a', annotations: { note: 'x' } });
    expect(metadata.labels).toEqual({ ...owner.labels, [labels.managedBy]: 'windlass', [labels.attempt]: '3' });
    expect(metadata.finalizers).toEqual([captureFinalizer]);
    expect(metadata.ownerReferences).toEqual([
      { apiVersion: 'windlass.dev/v1', kind: 'Agent', name: 'ann', uid: 'u1', controller: true },
    ]);
  });

  it('WF-CR-04 WF-CR-05 WF-CR-15 runs the command under the runner with its limit', () => {
    expect(container).toMatchObject({ image: 'app:1', imagePullPolicy: 'IfNotPresent' });
    expect(pod({ timeoutMs: 1_001 }).spec.containers[0]?.command).toEqual([
      '/windlass/runner',
      'run',
      '--workdir=/workspace',
      '--timeout=2s',
      '--grace=10s',
      '--',
      'true',
    ]);
  });

  it('WF-CR-06 WF-CR-08 text that the kubelet would expand stays as it was written', () => {
    const [only] = pod({ argv: ['echo', '$(A) $$(B)'], env: { C: '$(A)' } }).spec.containers;
    expect(only?.command?.at(-1)).toBe('$$(A) $$$$(B)');
    expect(only?.env).toEqual([{ name: 'C', value: '$$(A)' }]);
  });

  it('AMB-167 a System command runs in the image of the configuration', () => {
    expect(pod({ image: undefined }).spec.containers[0]?.image).toBe('busybox:1');
  });

  it('WF-CR-13 WF-CR-14 what a step asks for is request and limit; else the defaults hold', () => {
    expect(container?.resources).toEqual({ requests: { cpu: '10m', memory: '16Mi' }, limits: {} });
    expect(pod({ cpuMillis: 250, memory: '1Gi' }).spec.containers[0]?.resources).toEqual({
      requests: { cpu: '250m', memory: '1Gi' },
      limits: { cpu: '250m', memory: '1Gi' },
    });
  });

  it('WF-CR-16 a step with registry credentials asks the registry each time, whatever its manifest says', () => {
    for (const imagePullPolicy of ['IfNotPresent', 'Never', 'Always'] as const) {
      const [asked] = pod({ registryCredentials: 'pull', imagePullPolicy }).spec.containers;
      expect(asked?.imagePullPolicy).toBe('Always');
      expect(pod({ imagePullPolicy }).spec.containers[0]?.imagePullPolicy).toBe(imagePullPolicy);
    }
  });

  it('an installation that says so pulls every image that a workflow names, and not its own', () => {
    const policyOf = (image: string | undefined) =>
      pod({ image, imagePullPolicy: 'Never' }, { alwaysPull: true }).spec.containers[0]?.imagePullPolicy;
    expect([policyOf('app:1'), policyOf(undefined)]).toEqual(['Always', 'Never']);
  });

  it('a working directory of its own has a size, and so has what a container writes to its node', () => {
    const defaultResources = { requests: { 'ephemeral-storage': '0' }, limits: { 'ephemeral-storage': '2Gi' } };
    const { spec } = pod({ memory: '1Gi' }, { workdirSize: '1Gi', defaultResources });
    expect(spec.volumes?.find(({ name }) => name === 'workdir')).toEqual({
      name: 'workdir',
      emptyDir: { sizeLimit: '1Gi' },
    });
    expect(spec.containers[0]?.resources).toEqual({
      requests: { 'ephemeral-storage': '0', memory: '1Gi' },
      limits: { 'ephemeral-storage': '2Gi', memory: '1Gi' },
    });
  });

  it('WF-CR-16 registry credentials are named as a pull secret and nowhere else', () => {
    const { spec } = pod({ registryCredentials: 'pull' });
    expect(spec.imagePullSecrets).toEqual([{ name: 'pull' }]);
    expect(JSON.stringify({ ...spec, imagePullSecrets: [] })).not.toContain('pull"');
  });

  it.each([
    { mounts: [], workdir: '/workspace', own: true },
    { mounts: ['/workspace'], workdir: '/workspace', own: false },
    { mounts: ['/workspace/'], workdir: '/workspace/app', own: false },
    { mounts: ['/work'], workdir: '/workspace', own: true },
    { mounts: ['/workspace/cache'], workdir: '/workspace', own: true },
    { mounts: ['/'], workdir: '/data', own: false },
    { mounts: [], workdir: '/', own: false },
  ])('WF-CR-09 with $mounts mounted, $workdir gets an empty directory: $own', ({ mounts, workdir, own }) => {
    const planned = mounts.map((mountPath) => ({ claim: 'c', mountPath, readOnly: false }));
    const { spec } = pod({ workdir, mounts: planned });
    expect(spec.volumes?.some(({ emptyDir }) => emptyDir !== undefined)).toBe(own);
  });

  it('WF-CR-10 WF-CR-11 WF-CR-12 a claim that is mounted twice is one volume', () => {
    const mounts = [
      { claim: 'long.claim.name', mountPath: '/a', readOnly: false },
      { claim: 'long.claim.name', mountPath: '/b', readOnly: true },
    ];
    const { spec } = pod({ mounts });
    expect(spec.volumes?.filter(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined)).toEqual([
      { name: 'claim-0', persistentVolumeClaim: { claimName: 'long.claim.name' } },
    ]);
    expect(spec.containers[0]?.volumeMounts?.slice(0, 2)).toEqual([
      { name: 'claim-0', mountPath: '/a', readOnly: false },
      { name: 'claim-0', mountPath: '/b', readOnly: true },
    ]);
  });

  it('before image volumes, an init container copies the runner', () => {
    const { spec } = pod({}, { imageVolumes: false });
    expect(spec.initContainers).toMatchObject([
      { image: 'runner:1', command: ['/runner', 'copy', '/windlass/runner'] },
    ]);
    expect(spec.volumes?.at(-1)).toMatchObject({ name: 'runner', emptyDir: {} });
  });
});

it.each([
  {
    doNotDisrupt: true,
    want: { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false', 'karpenter.sh/do-not-disrupt': 'true' },
  },
  { doNotDisrupt: false, want: {} },
])('AMB-191 autoscalers are asked to leave a step alone by choice: $doNotDisrupt', ({ doNotDisrupt, want }) => {
  const { annotations = {} } = pod({}, { doNotDisrupt }).metadata;
  expect(annotations).toEqual({ note: 'x', ...want });
});
