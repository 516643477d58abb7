import { describe, expect, it } from 'vitest';
import { gitOperations } from '../../crds/schema/git-binding.ts';
import { aGitBinding, aGitVolume } from '../../test/builders/git-binding.ts';
import { type BegunJob, gitSource } from './decide.ts';
import { buildGitPod, gitPodName } from './git-pod.ts';

const settings = {
  runnerImage: 'runner',
  systemImage: 'system',
  imageVolumes: true,
  runAsUser: 65_532,
  workdirSize: '1Gi',
  alwaysPull: false,
  defaultResources: {},
  nodeLostSeconds: 60,
  gitImage: 'git',
  networks: ['10.0.0.0/8'],
  clusterNetworks: ['10.244.0.0/16'],
};
const binding = aGitBinding({ credentials: { secret: { name: 'forge' } } });
const job: BegunJob = {
  id: 'r1',
  op: 'sync',
  attempt: 1,
  startedAt: '2026-01-01T00:00:00.000Z',
  source: gitSource(binding),
};
const podOf = (op: BegunJob['op'], message?: string) =>
  buildGitPod(binding, aGitVolume(), { ...job, op, message }, settings);
const requestOf = (pod: ReturnType<typeof podOf>) =>
  JSON.parse(pod.spec.containers[0]?.command?.at(-1)?.replaceAll('$$', '$') ?? '') as Record<string, unknown>;

describe('the pod of an operation', () => {
  it.each(gitOperations)('%s sees the Secret only where it reaches the server', (op) => {
    const pod = podOf(op, 'x');
    const has = op === 'sync' || op === 'push';
    const names = pod.spec.volumes?.map(({ name }) => name);
    expect(names?.includes('credentials')).toBe(has);
    expect(requestOf(pod)['credentials']).toBe(has ? '/windlass-git' : '');
    expect(pod.spec.containers[0]?.volumeMounts?.some(({ mountPath }) => mountPath === '/windlass-git')).toBe(has);
    expect(pod.spec.containers[0]?.env).toEqual([]);
  });

  it('sees named keys of the Secret alone, and waits for none', () => {
    const secret = podOf('sync').spec.volumes?.find(({ name }) => name === 'credentials')?.secret;
    expect(secret).toMatchObject({ secretName: 'forge', optional: true, defaultMode: 0o440 });
    expect(secret?.items?.map(({ key }) => key)).toContain('host');
    expect(secret?.items).toHaveLength(7);
  });

  it('is a step without an account, of its binding, and holds no finalizer', () => {
    const { metadata, spec } = podOf('diff');
    expect(spec).toMatchObject({ automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } });
    expect(spec.activeDeadlineSeconds).toBeGreaterThan(0);
    expect(metadata.finalizers).toBeUndefined();
    expect(metadata.labels).toMatchObject({
      'windlass.dev/git-binding': 'site',
      'windlass.dev/execution-uid': 'binding-uid',
    });
    expect(metadata.ownerReferences).toMatchObject([{ kind: 'GitBinding', uid: 'binding-uid', controller: true }]);
  });

  it('gets what the binding says, and a message as the user wrote it', () => {
    expect(requestOf(podOf('commit', 'costs $(HOME) $5'))).toMatchObject({
      op: 'commit',
      url: 'https://git.example.org/site.git',
      ref: '',
      depth: 1,
      limit_bytes: 1_073_741_824,
      networks: ['10.0.0.0/8'],
      cluster_networks: ['10.244.0.0/16'],
      message: 'costs $(HOME) $5',
      root: '/files',
    });
  });

  it('has another name for another operation, attempt or binding, and a legal one', () => {
    const long = { ...binding, metadata: { ...binding.metadata, name: `${'a'.repeat(29)}-${'b'.repeat(29)}` } };
    const names = [
      gitPodName(binding, job),
      gitPodName(binding, { ...job, attempt: 2 }),
      gitPodName(binding, { ...job, id: 'r2' }),
      gitPodName(binding, { ...job, startedAt: '2026-01-01T00:00:00.001Z' }),
      gitPodName({ ...binding, metadata: { ...binding.metadata, uid: 'other' } }, job),
      gitPodName(long, job),
    ];
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])$/);
    expect(gitPodName(binding, { ...job, pod: 'x' })).toBe(names[0]);
  });
});
