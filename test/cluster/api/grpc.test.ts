import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HealthClient } from '../../../proto/generated/health/v1/health.ts';
import {
  type IngestStimulusResponse,
  RuntimeServiceClient,
} from '../../../proto/generated/windlass/runtime/v1/runtime.ts';
import { projectDir } from '../harness/project.ts';
import { pause } from '../harness/wait.ts';
import type { ApiReplica } from './harness/index.ts';
import { waitForLog } from './replica-log.ts';
import { type Accepted, type StimuliWorld, startStimuliWorld } from './stimuli-world.ts';

const run = promisify(execFile);

let world: StimuliWorld;
let folder: string;
const clients: { close(): void }[] = [];

/** As docs/stimuli.md tells. */
const makeCertificate = (kind: string, ...args: string[]): Promise<unknown> =>
  run(join(projectDir, 'dev', 'certificates', 'make'), [kind, folder, ...args]);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'windlass-grpc-'));
  await makeCertificate('authority');
  await makeCertificate('server', 'localhost', '127.0.0.1');
  world = await startStimuliWorld([], {
    purpose: 'grpc',
    replicas: 2,
    env: {
      WINDLASS_GRPC_PORT: '0',
      WINDLASS_GRPC_TLS_CERT_FILE: join(folder, 'server.pem'),
      WINDLASS_GRPC_TLS_KEY_FILE: join(folder, 'server-key.pem'),
      WINDLASS_GRPC_CLIENT_CA_FILE: join(folder, 'ca.pem'),
    },
  });
  for (const tenant of [world.tenant, world.otherTenant, 'nobody']) await makeCertificate('client', tenant);
  await world.workflow('answer');
  await world.router('routes', { routes: { builds: 'answer', tickets: 'answer' } });
});
afterAll(async () => {
  for (const client of clients) client.close();
  await world?.close();
  await rm(folder, { recursive: true, force: true });
});

const replica = (index: number): ApiReplica => {
  const found = world.replicas[index];
  if (found === undefined) throw new Error(`there is no replica ${index}`);
  return found;
};

type ClientClass<T> = new (address: string, channel: ReturnType<typeof credentials.createSsl>, options: object) => T;

async function open<T extends { close(): void }>(Client: ClientClass<T>, tenant?: string, index = 0): Promise<T> {
  const { port } = await waitForLog(replica(index), 'serving grpc');
  const file = (name: string): Promise<Buffer> => readFile(join(folder, `${name}.pem`));
  const own = tenant === undefined ? [null, null] : [await file(`${tenant}-key`), await file(tenant)];
  const channel = credentials.createSsl(await file('ca'), own[0], own[1]);
  const client = new Client(`localhost:${String(port)}`, channel, { 'grpc.enable_retries': 0 });
  clients.push(client);
  return client;
}

interface Submitted {
  readonly source?: string;
  readonly content?: string;
  readonly idempotencyKey?: string;
  readonly headers?: Record<string, string>;
}

function submit(client: RuntimeServiceClient, fields: Submitted = {}): Promise<IngestStimulusResponse> {
  const request = { source: 'builds', content: 'built', idempotencyKey: undefined, headers: {}, ...fields };
  return new Promise((resolve, reject) => {
    client.ingestStimulus(request, new Metadata(), { deadline: Date.now() + 20_000 }, (error, response) =>
      error === null ? resolve(response) : reject(error),
    );
  });
}

const failureOf = (call: Promise<unknown>): Promise<ServiceError> =>
  call.then(
    () => Promise.reject(new Error('the call succeeded')),
    (error: ServiceError) => error,
  );

describe('stimuli over gRPC', () => {
  it('STIM-18 STIM-20 start a workflow of the tenant in the certificate, and are published as any other', async () => {
    const client = await open(RuntimeServiceClient, world.tenant);
    const { stimulusId, workflowExecutionId } = await submit(client, {
      content: '{"ref": "main"}',
      headers: { 'X-Delivery': '7', Authorization: 'secret' },
    });
    const [execution] = (await world.executions()).filter(({ metadata }) => metadata.uid === workflowExecutionId);
    expect(execution?.spec).toMatchObject({ workflow: 'answer', input: { ref: 'main' } });
    expect(execution?.metadata.labels).toMatchObject({
      'windlass.dev/stimulus': stimulusId,
      'windlass.dev/stimulus-source': 'builds',
    });
    expect(JSON.stringify(execution)).not.toContain('secret');
    const events = (await world.events(2)).filter(({ subject }) => subject === stimulusId);
    expect(events.map(({ type }) => type)).toEqual(['StimulusReceived', 'StimulusClassified']);
  });

  it('STIM-31 STIM-35 are refused as duplicates on any replica, and of what came over HTTP', async () => {
    const [first, second] = [
      await open(RuntimeServiceClient, world.tenant, 0),
      await open(RuntimeServiceClient, world.tenant, 1),
    ];
    const { stimulusId } = await submit(first, { idempotencyKey: 'one' });
    const again = await failureOf(submit(second, { idempotencyKey: 'one' }));
    expect(again.code).toBe(status.ALREADY_EXISTS);
    expect(again.metadata.getMap()).toMatchObject({
      'windlass-error': 'idempotent_duplicate',
      'original-stimulus-id': stimulusId,
    });
    const overHttp = await world.submit({ source: 'builds', content: 'x', idempotency_key: 'one' });
    expect([overHttp.status, overHttp.json()]).toMatchObject([
      409,
      { error: 'idempotent_duplicate', code: 'idempotent_duplicate', original_stimulus_id: stimulusId },
    ]);
    const answer = await world.submit({ source: 'builds', content: 'x', idempotency_key: 'two' });
    const other = await failureOf(submit(first, { idempotencyKey: 'two' }));
    expect(other.metadata.get('original-stimulus-id')).toEqual([answer.json<Accepted>().stimulus_id]);
    await expect(submit(first, { source: 'tickets', idempotencyKey: 'one' })).resolves.toHaveProperty('stimulusId');
  });

  it('a hundred at the same time with one key run once', async () => {
    const both = [await open(RuntimeServiceClient, world.tenant, 0), await open(RuntimeServiceClient, world.tenant, 1)];
    const content = `once ${Date.now()}`;
    const calls = Array.from({ length: 100 }, async (_, index) => {
      const client = both[index % 2];
      if (client === undefined) throw new Error('no client');
      return submit(client, { content, idempotencyKey: content }).then(
        () => 'OK',
        ({ code }: ServiceError) => status[code],
      );
    });
    const answers = await Promise.all(calls);
    expect(answers.filter((code) => code === 'OK')).toHaveLength(1);
    expect(answers.every((code) => ['OK', 'ALREADY_EXISTS', 'UNAVAILABLE'].includes(code ?? ''))).toBe(true);
    const started = (await world.executions()).filter(({ spec }) => spec.intent === content);
    expect(started).toHaveLength(1);
  });

  it('STIM-33 without a route are refused, and belong to no other tenant', async () => {
    const client = await open(RuntimeServiceClient, world.otherTenant);
    const { code, metadata } = await failureOf(submit(client));
    expect([code, metadata.get('windlass-error')]).toEqual([status.FAILED_PRECONDITION, ['no_router_configured']]);
    expect(await world.executions(world.otherTenant)).toEqual([]);
  });

  it('ORCH-AUTH-06 are refused without a certificate, and with one of a tenant that is not set up', async () => {
    const stranger = await open(RuntimeServiceClient);
    expect((await failureOf(submit(stranger))).code).toBe(status.UNAVAILABLE);
    const unknown = await open(RuntimeServiceClient, 'nobody');
    expect((await failureOf(submit(unknown))).code).toBe(status.PERMISSION_DENIED);
  });

  it('with a key wait for the event bus: UNAVAILABLE while it is away, once when it is back', async () => {
    const client = await open(RuntimeServiceClient, world.tenant);
    await world.nats?.kill();
    try {
      const { code, metadata } = await failureOf(submit(client, { content: 'held', idempotencyKey: 'held' }));
      expect([code, metadata.get('grpc-retry-pushback-ms')]).toEqual([status.UNAVAILABLE, ['5000']]);
    } finally {
      await world.nats?.start();
    }
    const deadline = Date.now() + 30_000;
    while (Date.now() < deadline) {
      const code = await submit(client, { content: 'held', idempotencyKey: 'held' }).then(
        () => status.OK,
        (error: ServiceError) => error.code,
      );
      if (code !== status.UNAVAILABLE) break;
      await pause(200);
    }
    const started = (await world.executions()).filter(({ spec }) => spec.intent === 'held');
    expect(started).toHaveLength(1);
  });

  it('certificates that were exchanged on disk count without a restart', async () => {
    await makeCertificate('server', 'localhost');
    const before = await readFile(join(folder, 'server.pem'), 'utf8');
    const { validTo } = new X509Certificate(before);
    // They are read every ten seconds, and once more where one of the two files was still the old one.
    await waitForLog(replica(0), 'certificates reloaded', ({ notAfter }) => notAfter === validTo, 30_000);
    const client = await open(HealthClient, world.tenant);
    const answer = await new Promise((resolve) =>
      client.check({ service: '' }, (error, found) => resolve(error ?? found)),
    );
    expect(answer).toMatchObject({ status: 1 });
    expect(await readFile(join(folder, 'server.pem'), 'utf8')).toBe(before);
  }, 60_000);

  it('under way are answered when the replica stops', async () => {
    const client = await open(RuntimeServiceClient, world.tenant, 1);
    const calls = Array.from({ length: 100 }, (_, index) =>
      submit(client, { content: `stop ${index}`, idempotencyKey: `stop ${index}` }).then(
        ({ workflowExecutionId }) => workflowExecutionId,
        ({ code }: ServiceError) => code,
      ),
    );
    // The first answer shows that the replica has them; the others are under way then.
    await Promise.race(calls);
    expect(await replica(1).stop()).toBe(0);
    const answers = await Promise.all(calls);
    const accepted = answers.filter((answer) => typeof answer === 'string');
    expect(answers.filter((answer) => typeof answer === 'number' && answer !== status.UNAVAILABLE)).toEqual([]);
    const uids = new Set((await world.executions()).map(({ metadata }) => metadata.uid));
    expect(accepted.filter((id) => !uids.has(id))).toEqual([]);
    expect(accepted.length).toBeGreaterThan(0);
    await replica(1).start();
  });
});
