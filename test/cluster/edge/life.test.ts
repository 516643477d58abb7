import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandsFinalizer } from '../../../crds/labels.ts';
import { edgeHostName } from '../../../crds/schema/edge-host.ts';
import { mintEnrollmentToken } from '../../../lib/edge/index.ts';
import { findObject } from '../../../lib/kube/index.ts';
import { HealthClient, HealthCheckResponse_ServingStatus } from '../../../proto/generated/health/v1/health.ts';
import type { ReceivedEvent } from '../api/harness/http.ts';
import { podsOf } from '../chart/release.ts';
import { restoreInstalled, scaleInstalledTo } from '../harness/installed.ts';
import { edgeHosts, fleetRuns } from '../harness/kinds.ts';
import { waitForObject } from '../harness/wait.ts';
import { edgeScopes, type EdgeWorld, openEdgeWorld } from './harness/edge-world.ts';
import { connectedHost, makeHost, marksOf, type RealHost } from './harness/real-host.ts';

let world: EdgeWorld;
let hosts: (RealHost & AsyncDisposable)[] = [];
const host = (index: number): RealHost => {
  const found = hosts[index];
  if (found === undefined) throw new Error(`there is no host ${index}`);
  return found;
};

beforeAll(async () => {
  world = await openEdgeWorld('edge-life');
  for (const name of ['north', 'south']) hosts.push(await connectedHost(world, name));
});
afterAll(async () => {
  for (const each of hosts) await each[Symbol.asyncDispose]();
  hosts = [];
  await world.close();
});

const shell = (script: string) => ({ tool: 'cmd.run', args: { command: 'sh', args: ['-c', script] } });

/** Makes a run for the first host with kubectl. Returns its name. */
async function createRun(spec: object): Promise<string> {
  const requested_by = await world.kubectl(['auth', 'whoami', '--output', 'jsonpath={.status.userInfo.username}']);
  const object = {
    apiVersion: 'windlass.dev/v1',
    kind: 'FleetRun',
    metadata: { generateName: 'by-kubectl-', namespace: world.tenant },
    spec: { target: { Node: host(0).nodeId }, ...spec, requested_by },
  };
  const made = await world.kubectl(['create', '--filename', '-', '--output', 'name'], JSON.stringify(object));
  return made.trim().replace(/^.*\//, '');
}

const dataOf = <T>(events: readonly ReceivedEvent[], type: string): T[] =>
  events.filter(({ event }) => event === type).map(({ data }) => data as T);
interface Told {
  readonly node_id: string;
  readonly command_id: string;
  readonly chunk?: { readonly stdout?: string };
  readonly result?: object;
}
interface NodeOutcome {
  readonly node_id: string;
  readonly outcome: string;
  readonly exit_code: number | null;
  readonly stdout_tail: string;
}

describe('who may call', () => {
  it.each([
    ['POST', '/v1/edge/enrollment-tokens'],
    ['GET', '/v1/edge/hosts'],
    ['GET', '/v1/edge/groups'],
    ['POST', '/v1/edge/fleet/preview'],
    ['POST', '/v1/edge/fleet/invoke'],
    ['GET', '/v1/edge/fleet/runs'],
  ])('EDGE-REST-09 EDGE-AUTH-01 %s %s needs a token of the identity provider', async (method, path) => {
    const body = method === 'POST' ? { body: { target: { All: null } } } : {};
    const send = async (headers: Readonly<Record<string, string>>): Promise<number> =>
      (await world.http(path, { method, ...body, headers, token: undefined })).status;
    const [head, claims, signature = ''] = (await world.token()).split('.');
    const spoiled = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
    const enrollment = await world.enrollmentToken();
    for (const authorization of [
      'Bearer x',
      `Bearer ${head}.${claims}.${spoiled}`,
      `Bearer ${enrollment}`,
      'Basic eDp4',
    ]) {
      expect([authorization.slice(0, 12), await send({ authorization })]).toEqual([authorization.slice(0, 12), 401]);
    }
    expect(await send({})).toBe(401);
  });

  it('EDGE-AUTH-01 EDGE-AUTH-08 a token of the provider is let in where it has the scope', async () => {
    const hostsWith = async (roles: readonly string[]): Promise<number> =>
      (await world.http('/v1/edge/hosts', { token: await world.token(roles) })).status;
    expect(await hostsWith(['svc.edge.hosts.read'])).toBe(200);
    expect(await hostsWith(edgeScopes.filter((scope) => scope !== 'svc.edge.hosts.read'))).toBe(403);
  });
});

describe('enrollment', () => {
  it('EDGE-FLOW-28 is authorised by the enrollment token alone: no other one counts, and this one once', async () => {
    await using machine = await makeHost(world, 'west');
    const forged = await mintEnrollmentToken(generateKeyPairSync('ed25519').privateKey, {
      jti: randomUUID(),
      tid: world.tenant,
      issuedBy: 'edna',
      now: Date.now(),
      ttlSeconds: 600,
    });
    for (const token of [forged, await world.token()]) {
      const refused = await machine.enroll(token);
      expect(refused).toMatchObject({
        code: 1,
        text: expect.stringMatching(/UNAUTHENTICATED: the enrollment token is not valid/) as string,
      });
    }
    const token = await world.enrollmentToken('west');
    expect(await machine.enroll(token)).toMatchObject({
      code: 0,
      text: expect.stringContaining(`in the tenant ${world.tenant}`) as string,
    });
    const enrolled = await world.hostIs(machine.nodeId, 'Disconnected');
    expect(enrolled.spec).toMatchObject({ name: 'west' });
    await using second = await makeHost(world, 'west');
    expect(await second.enroll(token)).toMatchObject({
      code: 1,
      text: expect.stringContaining('UNAUTHENTICATED') as string,
    });
  });
});

describe('the relay', () => {
  it('GEN-10 serves on port 50056 over TLS with the certificate of its Secret', async () => {
    const [pod] = await podsOf(world.kube, 'relay');
    const trust = credentials.createSsl(await readFile(world.caFile));
    const name = 'windlass-relay.windlass-system.svc';
    const client = new HealthClient(`${pod?.status?.podIP}:50056`, trust, { 'grpc.ssl_target_name_override': name });
    const answer = await new Promise<unknown>((resolve, reject) => {
      const service = 'windlass.node.v1.NodeClusterService';
      client.check({ service }, (error, found) => (error === null ? resolve(found.status) : reject(error)));
    }).finally(() => client.close());
    expect(answer).toBe(HealthCheckResponse_ServingStatus.SERVING);
  });
});

describe('connected hosts', () => {
  it('EDGE-REST-15 EDGE-FLOW-04 are the same by kubectl and by HTTP', async () => {
    const text = await world.kubectl(['--namespace', world.tenant, 'get', 'edgehosts']);
    for (const { nodeId, name } of hosts) {
      expect(text).toMatch(new RegExp(`^${edgeHostName(nodeId)} .*${name}.* Connected `, 'm'));
    }
    const { items } = (await world.http('/v1/edge/hosts?connected=true')).json<{ items: object[] }>();
    for (const { nodeId, name } of hosts) {
      const labels = { host: name };
      expect(items).toContainEqual(
        expect.objectContaining({
          node_id: nodeId,
          name,
          status: 'Connected',
          capabilities: expect.objectContaining({ os: 'linux', labels }) as object,
        }),
      );
    }
  });

  it('EDGE-REST-23 EDGE-REST-28 EDGE-REST-29 EDGE-REST-30 EDGE-REST-31 EDGE-REST-37 run a tool as a group over HTTP', async () => {
    const pinned_members = hosts.map(({ nodeId }) => nodeId);
    const made = await world.http('/v1/edge/groups', { body: { name: `pair-${randomUUID()}`, pinned_members } });
    const group = made.json<{ id: string }>().id;
    const { status, id, events } = await world.invoke({ target: { Group: group }, ...shell('echo from $0; exit 3') });
    expect(status).toBe(200);
    const said = dataOf<Told>(events, 'command_progress').filter(({ chunk }) => chunk?.stdout !== undefined);
    expect(said.map(({ node_id, chunk }) => `${node_id} ${chunk?.stdout}`).toSorted()).toEqual(
      pinned_members.map((node) => `${node} from sh\n`).toSorted(),
    );
    const results = dataOf<Told>(events, 'command_result');
    expect(results.map(({ node_id }) => node_id).toSorted()).toEqual(pinned_members.toSorted());
    for (const { result } of results) expect(result).toMatchObject({ ok: { exit_code: 3 } });
    expect(events.at(-1)).toMatchObject({
      event: 'fleet_result',
      data: { fleet_command_id: id, summary: { ok: 2, err: 0, timed_out: 0, cancelled: 0, not_started: 0 } },
    });
    const stored = (await world.http(`/v1/edge/fleet/runs/${id}`)).json<{ outcome: string; per_node: NodeOutcome[] }>();
    expect(stored.outcome).toBe('complete');
    expect(stored.per_node.map(({ exit_code, stdout_tail }) => [exit_code, stdout_tail])).toEqual([
      [3, 'from sh\n'],
      [3, 'from sh\n'],
    ]);
  });

  it('EDGE-RES-19 EDGE-RES-26 run a tool that kubectl asks for', async () => {
    const mark = randomUUID();
    const name = await createRun(shell(`echo ran >>$MARKS/${mark}`));
    const ended = await waitForObject(
      world.kube,
      { resource: fleetRuns, namespace: world.tenant, name },
      ({ status }) => status?.phase === 'Ended',
    );
    expect(ended.status).toMatchObject({ outcome: 'complete', targets_resolved: 1, summary: { ok: 1, err: 0 } });
    expect((await marksOf(host(0))).get(mark)).toBe(1);
  });

  it('EDGE-FLOW-16 EDGE-REST-35 EDGE-REST-40 end a command whose run is cancelled, and its process with it', async () => {
    const mark = randomUUID();
    const target = { Node: host(0).nodeId };
    const run = world.invoke({
      target,
      ...shell(`echo $$ >>$MARKS/${mark}; exec sleep 61`),
    });
    await expect.poll(async () => (await marksOf(host(0))).get(mark), { timeout: 30_000 }).toBe(1);
    const process = `/proc/${(await readFile(join(host(0).marks, mark), 'utf8')).trim()}`;
    expect(existsSync(process)).toBe(true);
    // The order of runs of one second does not say which began first: the command itself says which one is meant.
    const { items } = await world.kube.listAll(fleetRuns, { namespace: world.tenant });
    const id = items.find(({ spec }) => JSON.stringify(spec).includes(mark))?.metadata.uid ?? '';
    const cancelled = await world.http(`/v1/edge/fleet/${id}/cancel`, { method: 'POST' });
    expect(cancelled.json()).toMatchObject({ fleet_command_id: id, cancelled: 1, already_terminal: 0 });
    const { events } = await run;
    expect(dataOf<Told>(events, 'command_result').map(({ result }) => result)).toMatchObject([{ cancelled: {} }]);
    expect(events.at(-1)).toMatchObject({ event: 'fleet_result', data: { summary: { cancelled: 1 } } });
    expect((await world.http(`/v1/edge/fleet/runs/${id}`)).json()).toMatchObject({ outcome: 'cancelled' });
    await expect.poll(() => existsSync(process), { timeout: 10_000 }).toBe(false);
  });
});

describe('a run that is deleted while no controller leads', () => {
  it('EDGE-FLOW-16 is cancelled by the next leader: its process ends, and then the run is gone', async () => {
    const mark = randomUUID();
    const policy = { per_target_deadline_secs: 900 };
    const name = await createRun({ ...shell(`echo $$ >>$MARKS/${mark}; exec sleep 611`), policy });
    await expect.poll(async () => (await marksOf(host(0))).get(mark), { timeout: 30_000 }).toBe(1);
    const process = `/proc/${(await readFile(join(host(0).marks, mark), 'utf8')).trim()}`;
    const where = { namespace: world.tenant, name };
    try {
      await scaleInstalledTo(world.kube, 0);
      await world.kubectl(['--namespace', world.tenant, 'delete', 'fleetrun', name, '--wait=false']);
      expect((await world.kube.get(fleetRuns, where)).metadata.finalizers).toEqual([commandsFinalizer]);
      expect(existsSync(process)).toBe(true);
    } finally {
      await restoreInstalled(world.kube);
    }
    await expect.poll(() => existsSync(process), { timeout: 60_000 }).toBe(false);
    await expect.poll(() => findObject(world.kube, fleetRuns, where), { timeout: 60_000 }).toBeUndefined();
  });
});

describe('a host that changes', () => {
  it('EDGE-FLOW-21 EDGE-FLOW-22 rotates its key when half the life of its token is over, and works on with the new one', async () => {
    const south = host(1);
    const ref = { namespace: world.tenant, name: edgeHostName(south.nodeId) };
    const before = await world.kube.get(edgeHosts, ref);
    await south.stop();
    const file = join(south.program.folder, 'state', 'credential.json');
    const credential = JSON.parse(await readFile(file, 'utf8')) as { receivedAt: number; lifeMs: number };
    await writeFile(file, JSON.stringify({ ...credential, receivedAt: Date.now() - 0.6 * credential.lifeMs }));
    await south.start();
    const after = await waitForObject(
      world.kube,
      { resource: edgeHosts, ...ref },
      ({ status }) => status?.keys.current !== before.status?.keys.current,
      { what: 'another key of the host' },
    );
    expect(after.status?.keys.previous).toBe(before.status?.keys.current);
    expect(after.status?.token_jti).not.toBe(before.status?.token_jti);
    await world.hostIs(south.nodeId, 'Connected');
    const { events } = await world.invoke({ target: { Node: south.nodeId }, ...shell('true') });
    expect(events.at(-1)).toMatchObject({ event: 'fleet_result', data: { summary: { ok: 1 } } });
  });

  it('EDGE-REST-21 EDGE-FLOW-18 is refused for good once it is revoked: its stream ends, and no new one begins', async () => {
    await using gone = await connectedHost(world, 'gone');
    const daemon = gone.running();
    const ended = once(daemon, 'exit');
    expect((await world.http(`/v1/edge/hosts/${gone.nodeId}`, { method: 'DELETE' })).status).toBe(204);
    expect((await ended)[0]).toBe(revokedExitCode);
    await world.hostIs(gone.nodeId, 'Revoked');
    expect((await gone.runToEnd()).code).toBe(revokedExitCode);
    const { events } = await world.invoke({ target: { Node: gone.nodeId }, ...shell('true') });
    expect(dataOf<object>(events, 'error')).toMatchObject([{ reason: 'EdgeUnavailable' }]);
  });
});

describe('a host that is away', () => {
  it('EDGE-FLOW-18 AMB-098 is Revoked all the same, twice with the same answer, and refused when it comes back', async () => {
    await using away = await connectedHost(world, 'away');
    await away.stop();
    const revoke = async (): Promise<number> =>
      (await world.http(`/v1/edge/hosts/${away.nodeId}`, { method: 'DELETE' })).status;
    expect([await revoke(), await revoke()]).toEqual([204, 204]);
    await world.hostIs(away.nodeId, 'Revoked');
    expect((await away.runToEnd()).code).toBe(revokedExitCode);
  });
});

/** docs/edge-daemon.md. */
const revokedExitCode = 78;
