import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { StimulusRouter } from '../../../crds/schema/stimulus-router.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import { waitUntilFinished, waitUntilWaiting } from '../harness/executions.ts';
import { freePort } from '../harness/free-port.ts';
import { stimulusRouters, workflows } from '../harness/kinds.ts';
import { forgetProcess, recordProcess } from '../harness/process-record.ts';
import { projectDir } from '../harness/project.ts';
import { type Accepted, type StimuliWorld, secretOf, startStimuliWorld } from './stimuli-world.ts';

const example = (file: string): Promise<string> => readFile(join(projectDir, 'examples/forge', file), 'utf8');
let world: StimuliWorld;
let relay: ChildProcess;
let address: string;

beforeAll(async () => {
  world = await startStimuliWorld(['forge'], { purpose: 'forge' });
  const { kube, tenant: namespace } = world;
  const workflow = parse(await example('on-push.yaml')) as Workflow;
  await kube.create(workflows, { ...workflow, metadata: { ...workflow.metadata, namespace } });
  const router = parse(await example('router.yaml')) as StimulusRouter;
  await kube.create(stimulusRouters, { ...router, metadata: { ...router.metadata, namespace } });
  const port = await freePort();
  relay = await startRelay(port);
  address = `http://127.0.0.1:${port}/forge`;
});

afterAll(async () => {
  relay?.kill();
  await forgetProcess(relay?.pid ?? 0);
  await world?.close();
});

async function startRelay(port: number): Promise<ChildProcess> {
  const env = { PATH: process.env.PATH, WINDLASS_URL: world.replicas[0]?.url, PORT: String(port) };
  const child = spawn(process.execPath, [join(projectDir, 'examples/forge/relay.js')], { env, stdio: 'pipe' });
  await recordProcess(child.pid ?? 0, 'relay of the forge example');
  await new Promise((resolve) => child.stdout.once('data', resolve));
  return child;
}

/** Request of a forge of GitHub's kind. */
function push(body: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const signature = createHmac('sha256', secretOf('forge')).update(body).digest('hex');
  return fetch(address, {
    method: 'POST',
    body,
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': 'GitHub-Hookshot/0000000',
      'X-GitHub-Event': 'push',
      'X-GitHub-Delivery': randomUUID(),
      'X-Hub-Signature-256': `sha256=${signature}`,
      ...headers,
    },
  });
}

async function startedBy(answer: Response) {
  expect(answer.status).toBe(200);
  const { stimulus_id: id, workflow_execution_id: uid } = (await answer.json()) as Accepted;
  return { ref: { namespace: world.tenant, name: `stimulus-${id}` }, uid };
}

describe('a Git forge', () => {
  it('STIM-22 starts a workflow with each push, through a relay that only renames headers; a person decides over HTTP', async () => {
    const { ref, uid } = await startedBy(await push(await example('push.json')));
    await waitUntilWaiting(world.kube, { ...ref, state: 'ask' });
    const token = await world.token({ user: 'kim', tenant: world.tenant });
    const listed = await world.http('/v1/human-approvals', { token });
    const { pending_requests: requests } = listed.json<{ pending_requests: Record<string, string>[] }>();
    const request = requests.find(({ execution_id: id }) => id === uid);
    const said = 'kim pushed 2 commits up to 0d1a26e67d8f5eaf1f6ba5c57fc3c7d91ac0fd1c';
    expect(request?.['prompt']).toBe(`${said}. Deploy acme/shop?`);
    const path = `/v1/human-approvals/${request?.['id']}/approve`;
    expect((await world.http(path, { token, body: { feedback: 'looks good' } })).status).toBe(200);
    await waitUntilFinished(world.kube, ref);
    const read = async () => (await world.http(`/v1/workflows/executions/${uid}`, { token })).json();
    // The watch of the API may bring it a moment later than ours.
    await expect.poll(read, { timeout: 10_000 }).toMatchObject({
      status: 'completed',
      final_output: {
        repository: 'acme/shop',
        pushed: said,
        decision: 'looks good',
        result: 'deployed 0d1a26e67d8f5eaf1f6ba5c57fc3c7d91ac0fd1c',
      },
    });
  });

  it('STIM-25 may deliver a push twice', async () => {
    const headers = { 'X-GitHub-Delivery': randomUUID() };
    // A push of its own: the signature of the one above belongs to the delivery above.
    const body = `${await example('push.json')}\n`;
    const first = (await (await push(body, headers)).json()) as Accepted;
    const second = await push(body, headers);
    expect([second.status, await second.json()]).toMatchObject([
      409,
      { error: 'idempotent_duplicate', code: 'idempotent_duplicate', original_stimulus_id: first.stimulus_id },
    ]);
  });

  it('may say hello', async () => {
    const ping = await push('{"zen":"Keep it logically awesome."}', { 'X-GitHub-Event': 'ping' });
    const { status } = await waitUntilFinished(world.kube, (await startedBy(ping)).ref);
    expect([status?.phase, status?.history?.map(({ state }) => state)]).toEqual(['completed', ['sort', 'ignore']]);
  });

  it('STIM-30 learns of bodies that the relay could not have passed', async () => {
    const answer = await push('{}', { 'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}` });
    expect([answer.status, await answer.json()]).toMatchObject([401, { error: 'invalid_signature' }]);
    // A sender cannot bring the headers of the API along: the relay takes them from the forge's alone.
    const headers = { 'X-Svc-Signature': 'sha256=00', 'X-Idempotency-Key': 'mine' };
    expect((await push('{}', headers)).status).toBe(200);
    expect((await push('{} ', headers)).status).toBe(200);
  });
});
