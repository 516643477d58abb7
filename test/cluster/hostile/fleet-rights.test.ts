import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { defineResource } from '../../../lib/kube/index.ts';
import { clusterNames } from '../../../lib/tenant/names.ts';
import { type Answer, createSend, type Send } from '../admission/api.ts';
import { type ApiWorld, startApiWorld } from '../api/harness/index.ts';
import { bindRole } from '../harness/bind-role.ts';
import { kubeconfigPath } from '../harness/cluster.ts';

/**
 * Bob defines and runs workflows and agents of a tenant (`windlass-operator`), and has no scope of fleets. He wants to run
 * commands on its hosts. Fay may do that (`windlass-edge-operator`), and so may an administrator of the namespace.
 */
let world: ApiWorld;
let send: Send;
let bob: string;

const secrets = defineResource({ group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true });

beforeAll(async () => {
  world = await startApiWorld({ purpose: 'fleet-rights', nats: false });
  send = await createSend(kubeconfigPath());
  bob = await world.token({ user: 'bob', tenant: world.tenant });
  await bind(clusterNames.operator, 'bob');
  await bind(clusterNames.operator, 'fay');
  await bind(clusterNames.edgeOperator, 'fay');
  await bind('admin', 'ann');
  await bind('edit', 'eddy');
});
afterAll(() => world?.close());

const bind = (role: string, user: string): Promise<void> =>
  bindRole(world.kube, { namespace: world.tenant, role, user });

const at = (plural: string, name = ''): string =>
  `/apis/windlass.dev/v1/namespaces/${world.tenant}/${plural}${name === '' ? '' : `/${name}`}`;
const write = (user: string, plural: string, object: object): Promise<Answer> =>
  send('POST', at(plural), object, { as: user, rights: 'own' });
const change = (user: string, path: string, patch: object): Promise<Answer> =>
  send('PATCH', path, patch, { as: user, rights: 'own', contentType: 'application/merge-patch+json' });

const object = (kind: string, name: string, spec: object) => ({
  apiVersion: 'windlass.dev/v1',
  kind,
  metadata: { name, namespace: world.tenant },
  spec,
});
const context = (name: string, spec: object) => object('SecurityContext', name, spec);
const agent = (name: string, tool: string) =>
  object('Agent', name, { version: '1.0.0', runtime: {}, task: { instruction: 'do it' }, tools: [{ name: tool }] });
const workflow = (name: string) => {
  const call = { kind: 'System', command: 'call_tool', env: { tool: 'svc.edge.fleet.invoke' }, transitions: [] };
  return object('Workflow', name, { version: '1.0.0', initial_state: 'call', states: { call } });
};
const run = (user: string) =>
  object('FleetRun', `of-${user}`, {
    target: { All: {} },
    tool: 'cmd.run',
    args: { command: 'id' },
    requested_by: user,
  });

describe('a user of the tenant without the right to run tools on hosts', () => {
  it.each(['bob', 'eddy'])('EDGE-AUTH-07 starts no fleet run with kubectl: %s', async (user) => {
    const { status, message } = await write(user, 'fleetruns', run(user));
    expect([status, message]).toEqual([403, expect.stringContaining('cannot create resource "fleetruns"')]);
  });

  it.each(['tenant-admin', 'operator'])('EDGE-TOOL-04 makes no SecurityContext of tier %s', async (tier) => {
    const { status, message } = await write('bob', 'securitycontexts', context('mine', { tier }));
    expect([status, message]).toEqual([403, expect.stringContaining('those who may create fleetruns only')]);
  });

  it('EDGE-TOOL-04 neither raises the tier of a context, nor widens one that has it, but takes the tier away', async () => {
    expect((await write('bob', 'securitycontexts', context('low', {}))).status).toBe(201);
    expect((await change('bob', at('securitycontexts', 'low'), { spec: { tier: 'operator' } })).status).toBe(403);
    const narrow = context('high', { tier: 'operator', tools: ['fs.*'] });
    expect((await write('fay', 'securitycontexts', narrow)).status).toBe(201);
    const path = at('securitycontexts', 'high');
    expect((await change('bob', path, { spec: { tools: ['*'] } })).status).toBe(403);
    expect((await change('bob', path, { metadata: { labels: { note: 'x' } } })).status).toBe(200);
    expect((await change('bob', path, { spec: { tier: 'user', tools: ['*'] } })).status).toBe(200);
  });

  it('is warned by kubectl of patterns of a context that fit no tool, and of no others', async () => {
    const slips = context('slips', {
      tools: ['fs.*', 'orders.*', 'svc.file.raed', '*'],
      deny_list: ['/etc/**', 'web.f*x'],
    });
    const { status, warnings } = await write('bob', 'securitycontexts', slips);
    // Several headers of one name come as one text.
    const text = warnings.join();
    expect([status, text.match(/fits no tool/g)]).toEqual([201, ['fits no tool', 'fits no tool']]);
    expect(text).toContain('spec.tools: svc.file.raed fits no tool');
    expect(text).toContain('spec.deny_list: web.f*x fits no tool');
    const right = context('right', { tools: ['svc.*.read', 'web.fetch'], deny_list: ['cmd.*', 'volume:a/**'] });
    expect(await write('bob', 'securitycontexts', right)).toMatchObject({ status: 201, warnings: [] });
  });

  it.each(['svc.edge.fleet.invoke', 'svc.edge.*'])(
    'EDGE-AUTH-07 gives no agent the tools %s with kubectl',
    async (tool) => {
      const { status, message } = await write('bob', 'agents', agent('hands', tool));
      expect([status, message]).toEqual([403, expect.stringContaining('tools of hosts are given to an agent')]);
    },
  );

  it('ADR 0096 EDGE-AUTH-07 writes no workflow that calls them with kubectl', async () => {
    const { status, message } = await write('bob', 'workflows', workflow('restart'));
    expect([status, message]).toEqual([403, expect.stringContaining('tools of hosts are called by a workflow')]);
  });

  it('EDGE-AUTH-07 gives no agent those tools over HTTP', async () => {
    const manifest = stringify({
      apiVersion: 'windlass.dev/v1',
      kind: 'Agent',
      metadata: { name: 'hands', version: '1.0.0' },
      spec: { runtime: {}, task: { instruction: 'do it' }, tools: [{ name: 'svc.edge.fleet.invoke' }] },
    });
    const headers = { 'content-type': 'application/yaml' };
    const answer = await world.http('/v1/agents/register', { token: bob, headers, body: manifest });
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('svc.edge.fleet.manage')]);
  });

  it("EDGE-AUTH-07 rewrites no instruction of a colleague's agent that has them", async () => {
    expect((await write('fay', 'agents', agent('ops', 'svc.edge.fleet.invoke'))).status).toBe(201);
    const patch = { spec: { version: '1.0.1', task: { instruction: 'run id on every host' } } };
    expect((await change('bob', at('agents', 'ops'), patch)).message).toContain('tools of hosts');
    expect((await change('bob', at('agents', 'ops'), { metadata: { labels: { note: 'x' } } })).status).toBe(200);
  });

  it('EDGE-AUTH-05 changes no group that the runs of others target', async () => {
    const group = object('EdgeGroup', 'web', { name: 'web', selector: {} });
    expect((await write('bob', 'edgegroups', group)).status).toBe(403);
    expect((await write('fay', 'edgegroups', group)).status).toBe(201);
    expect((await change('bob', at('edgegroups', 'web'), { spec: { selector: { os: 'linux' } } })).status).toBe(403);
  });
});

describe('a user with the right', () => {
  it.each(['fay', 'ann'])('grants it: %s', async (user) => {
    expect((await write(user, 'securitycontexts', context(`by-${user}`, { tier: 'operator' }))).status).toBe(201);
    expect((await write(user, 'agents', agent(`by-${user}`, 'svc.edge.*'))).status).toBe(201);
    expect((await write(user, 'workflows', workflow(`by-${user}`))).status).toBe(201);
    expect((await write(user, 'fleetruns', run(user))).status).toBe(201);
  });
});

describe('a user who may write ApiSpecs and read no Secret', () => {
  it('sends no credential of a colleague to a server of its own', async () => {
    const secret = {
      metadata: { name: 'key', namespace: world.tenant, labels: { 'windlass.dev/credential': 'true' } },
    };
    await world.kube.create(secrets, { apiVersion: 'v1', kind: 'Secret', ...secret });
    const credentials = { kind: 'bearer', secret: { name: 'key' } };
    const document = '{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{}}';
    const spec = { name: 'shop', server_url: 'https://shop.example.com', document, credentials };
    const refused = await write('bob', 'apispecs', object('ApiSpec', 'stolen', spec));
    expect([refused.status, refused.message]).toEqual([403, expect.stringContaining('spec.credentials.secret')]);
    expect((await write('eddy', 'apispecs', object('ApiSpec', 'shop', spec))).status).toBe(201);
    const path = at('apispecs', 'shop');
    expect((await change('bob', path, { spec: { server_url: 'https://evil.example.com' } })).status).toBe(403);
    expect((await change('bob', path, { spec: { description: 'The shop.' } })).status).toBe(200);
    expect((await change('bob', path, { spec: { credentials: { kind: 'none', secret: null } } })).status).toBe(200);
  });
});
