import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { exitCodes } from '../../cli/exit-codes.ts';
import {
  findObject,
  type KubeClient,
  namespaces,
  networkPolicies,
  type Resource,
  resourceQuotas,
  type Role,
  roleBindings,
} from '../../lib/kube/index.ts';
import { quantityValue } from '../../lib/quantity.ts';
import { defaultQuota } from '../../lib/tenant/tenant-manifests.ts';
import { bundleProgram, type Result, startProgram } from './cli/program.ts';
import { connect, kubeconfigPath } from './harness/cluster.ts';
import { projectDir } from './harness/project.ts';
import { waitForNone } from './harness/wait.ts';

let main: string;
let kube: KubeClient;

const windlass = (...args: readonly string[]): Promise<Result> =>
  startProgram(main, args, { ...process.env, KUBECONFIG: kubeconfigPath() }).result;

beforeAll(async () => {
  main = await bundleProgram('cli-tenant');
  ({ kube } = await connect());
});

describe('windlass tenant', () => {
  const slug = `cli-${process.pid}`;
  const namespace = `tenant-${slug}`;

  it('makes a tenant, twice without harm, lists it, and deletes it only with the confirmation', async () => {
    const create = () =>
      windlass('tenant', 'create', slug, '-n', namespace, '--operator', 'Group:devs', '--quota', 'pods=7');
    expect(await create()).toMatchObject({ code: exitCodes.ok });
    expect(await create()).toMatchObject({ code: exitCodes.ok });

    const [space, quotas, policies, bindings] = await Promise.all([
      kube.get(namespaces, { name: namespace }),
      kube.listAll(resourceQuotas, { namespace }),
      kube.listAll(networkPolicies, { namespace }),
      kube.listAll(roleBindings, { namespace }),
    ]);
    expect(space.metadata.labels).toMatchObject({
      'windlass.dev/tenant': slug,
      'pod-security.kubernetes.io/enforce': 'restricted',
    });
    expect(quotas.items.map(({ spec }) => amountsOf(spec?.hard ?? {}))).toEqual([
      amountsOf({ ...defaultQuota, pods: '7' }),
    ]);
    expect(policies.items.length).toBeGreaterThan(0);
    expect(bindings.items.flatMap(({ subjects }) => subjects?.map(({ name }) => name))).toContain('devs');
    expect((await windlass('tenant', 'list')).stdout).toMatch(new RegExp(`^${slug} +${namespace} `, 'm'));
    expect((await windlass('tenant', 'list', '-o', 'name')).stdout.split('\n')).toContain(`namespace/${namespace}`);
    expect(await windlass('tenant', 'delete', slug)).toMatchObject({ code: exitCodes.usage });
    expect(await windlass('tenant', 'create', 'other', '-n', namespace)).toMatchObject({ code: exitCodes.conflict });
    expect(await windlass('tenant', 'delete', slug, '--yes')).toMatchObject({ code: exitCodes.ok });
    expect(await windlass('tenant', 'delete', 'cli-never-was', '--yes')).toMatchObject({ code: exitCodes.not_found });
  });

  it('keeps what its options do not name, and a part that is refused leaves nothing half-made', async () => {
    const own = `${slug}-again`;
    const space = `space-of-${own}`;
    const create = (...options: string[]) => windlass('tenant', 'create', own, ...options);
    // The command line cannot judge this amount: the API server knows the names of resources.
    const wrong = ['--quota', 'nonsense=1'];
    expect(await create('-n', space, ...wrong)).toMatchObject({
      code: exitCodes.usage,
      stderr: expect.stringContaining('nonsense'),
    });
    await waitForNone(kube, { resource: namespaces, fieldSelector: `metadata.name=${space}` });
    expect(await create('-n', space, '--quota', 'pods=many')).toMatchObject({ code: exitCodes.usage });
    expect(await findObject(kube, namespaces, { name: space })).toBeUndefined();

    const people = ['--operator', 'Group:devs', '--egress', 'dns', '--quota', 'pods=7'];
    expect(await create('-n', space, ...people)).toMatchObject({ code: exitCodes.ok });
    const state = async () => ({
      quotas: (await kube.listAll(resourceQuotas, { namespace: space })).items.map(({ spec }) => spec),
      policies: (await kube.listAll(networkPolicies, { namespace: space })).items.map(({ spec }) => spec),
      bindings: (await kube.listAll(roleBindings, { namespace: space })).items.map(({ subjects }) => subjects),
    });
    const before = await state();
    expect(await create(...wrong, '--operator', 'Group:others')).toMatchObject({ code: exitCodes.usage });
    expect(await create()).toMatchObject({
      code: exitCodes.ok,
      stdout: `tenant ${own} is ready in namespace ${space}\n`,
    });
    expect(await state()).toEqual(before);
    expect(await create('-n', 'elsewhere')).toMatchObject({ code: exitCodes.conflict });
    expect(await windlass('tenant', 'delete', own, '--yes')).toMatchObject({ code: exitCodes.ok });
  });

  it('waits with a create until Kubernetes has counted the quota of a tenant, and makes it count', async () => {
    const space = `${namespace}-counts`;
    expect(await windlass('tenant', 'create', `${slug}-counts`)).toMatchObject({ code: exitCodes.ok });
    const ref = { namespace: space, name: 'windlass' };
    const counted = await kube.get(resourceQuotas, ref);
    expect(Object.keys(counted.status?.used ?? {})).toEqual(Object.keys(counted.spec?.hard ?? {}));

    await kube.mergePatchStatus(resourceQuotas, ref, { status: { used: { 'count/workflows.windlass.dev': null } } });
    const program = startProgram(main, ['workflow', 'register', join(projectDir, 'examples/hello.yaml'), '-n', space], {
      ...process.env,
      KUBECONFIG: kubeconfigPath(),
    });
    await expect.poll(() => program.said(), { timeout: 20_000 }).toContain('has counted the new quota');
    expect(await program.result).toMatchObject({ code: exitCodes.ok });
    expect(await windlass('tenant', 'delete', `${slug}-counts`, '--yes')).toMatchObject({ code: exitCodes.ok });
  });

  it('the default quota bounds every kind that the ClusterRole edit may create', async () => {
    const { rules } = await kube.get(clusterRoles, { name: 'edit' });
    const names = rules
      .filter(({ verbs }) => verbs.includes('create'))
      .flatMap(({ apiGroups, resources }) => apiGroups.flatMap((group) => resources.map((name) => ({ group, name }))))
      .filter(({ group, name }) => !name.includes('/') && !isUnbounded(group, name))
      .map(({ group, name }) => (group === '' ? name : `${name}.${group}`));
    expect(names).toEqual(expect.arrayContaining(['secrets', 'jobs.batch', 'workflows.windlass.dev']));
    expect(names.filter((name) => !(name in defaultQuota) && !(`count/${name}` in defaultQuota))).toEqual([]);
  });

  it('a namespace that does not exist is said to be none, by every command that looks into it', async () => {
    const nowhere = ['-n', 'cli-nowhere'];
    const missing = {
      code: exitCodes.not_found,
      stderr: expect.stringContaining("there is no namespace 'cli-nowhere'"),
    };
    const hello = join(projectDir, 'examples/hello.yaml');
    const looking = [['list'], ['workflow', 'list'], ['get', 'x'], ['run', 'hello'], ['approvals']];
    for (const args of [...looking, ['workflow', 'register', hello]]) {
      expect({ args, ...(await windlass(...args, ...nowhere)) }).toMatchObject({ args, ...missing });
    }
  });
});

const clusterRoles: Resource<Role> = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'clusterroles',
  kind: 'ClusterRole',
  namespaced: false,
};

/**
 * Kubernetes counts no events and deletes them within an hour; no server has `extensions` any more; and those before 1.34
 * have no devices.
 */
const isUnbounded = (group: string, name: string): boolean =>
  name === 'events' || group === 'extensions' || group === 'resource.k8s.io';

/** Amounts as numbers: the API server writes 10000 as 10k. */
function amountsOf(hard: Readonly<Record<string, string>>): Record<string, number | undefined> {
  return Object.fromEntries(Object.entries(hard).map(([name, amount]) => [name, quantityValue(amount)]));
}
