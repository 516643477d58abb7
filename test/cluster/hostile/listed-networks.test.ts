import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clusterNames } from '../../../lib/tenant/names.ts';
import { type Answer, createSend, type Send } from '../admission/api.ts';
import { type ApiWorld, startApiWorld } from '../api/harness/index.ts';
import { bindRole } from '../harness/bind-role.ts';
import { kubeconfigPath } from '../harness/cluster.ts';

/** Bob defines agents and their contexts (`windlass-operator`). Ann administers the namespace. */
let world: ApiWorld;
let send: Send;

beforeAll(async () => {
  world = await startApiWorld({ purpose: 'listed-networks', nats: false });
  send = await createSend(kubeconfigPath());
  await bind(clusterNames.operator, 'bob');
  await bind('admin', 'ann');
});
afterAll(() => world?.close());

const bind = (role: string, user: string): Promise<void> =>
  bindRole(world.kube, { namespace: world.tenant, role, user });

const path = (): string => `/apis/windlass.dev/v1/namespaces/${world.tenant}/securitycontexts`;
const write = (user: string, name: string, spec: object): Promise<Answer> =>
  send(
    'POST',
    path(),
    { apiVersion: 'windlass.dev/v1', kind: 'SecurityContext', metadata: { name, namespace: world.tenant }, spec },
    { as: user, rights: 'own' },
  );
const change = (user: string, name: string, patch: object): Promise<Answer> =>
  send('PATCH', `${path()}/${name}`, patch, {
    as: user,
    rights: 'own',
    contentType: 'application/merge-patch+json',
  });

const networks = [{ cidr: '10.1.0.0/16', ports: [5432] }];
const listed = { network: 'listed', networks };

describe('ADR 0100 networks of a SecurityContext', () => {
  it('are opened by those who may create networkpolicies, and by no other user', async () => {
    const { status, message } = await write('bob', 'mine', listed);
    expect([status, message]).toEqual([403, expect.stringContaining('bob may not; use network: none')]);
    expect((await write('ann', 'hers', listed)).status).toBe(201);
  });

  it('are neither added nor widened by others, who may take them away', async () => {
    expect((await write('bob', 'plain', {})).status).toBe(201);
    expect((await change('bob', 'plain', { spec: listed })).status).toBe(403);
    expect((await write('ann', 'wide', listed)).status).toBe(201);
    const wider = [{ cidr: '0.0.0.0/0', ports: [1] }];
    expect((await change('bob', 'wide', { spec: { networks: wider } })).status).toBe(403);
    expect((await change('bob', 'wide', { metadata: { labels: { note: 'x' } } })).status).toBe(200);
    expect((await change('bob', 'wide', { spec: { network: 'none', networks: null } })).status).toBe(200);
  });

  it.each([
    ['a list without network: listed', { networks }],
    ['a list beside network: none', { network: 'none', networks }],
    ['network: listed without a list', { network: 'listed' }],
    ['an empty list', { network: 'listed', networks: [] }],
    ['a name in place of addresses', { network: 'listed', networks: [{ cidr: 'example.com/32', ports: [443] }] }],
    ['no port', { network: 'listed', networks: [{ cidr: '10.0.0.1/32', ports: [] }] }],
    ['port 65536', { network: 'listed', networks: [{ cidr: '10.0.0.1/32', ports: [65_536] }] }],
  ])('are refused as %s', async (_title, spec) => {
    expect((await write('ann', 'odd', spec)).status).toBe(422);
  });
});
