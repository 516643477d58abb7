import { execFileSync } from 'node:child_process';
import { createPublicKey, randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestBus, type TestBus } from '../nats/test-bus.ts';
import { canary, type GatewayWorld, startGatewayWorld } from '../support/gateway-world.ts';

/** The attacker holds a session's key and everything public, and a program of another language that signs any text. */
interface Variant {
  readonly title: string;
  readonly body: string;
  readonly status: number;
  readonly rpc: number | null;
  readonly code: number | null;
}
interface Spoiled {
  readonly public_key: string;
  readonly pem: string;
  readonly token: string;
  readonly variants: readonly Variant[];
  readonly weak_keys: readonly string[];
}

const executionId = `e-${randomUUID()}`;
const settings = {
  issuer_seed: randomBytes(32).toString('hex'),
  session_seed: randomBytes(32).toString('hex'),
  issuer: 'windlass',
  audience: 'windlass-tools',
  tenant: 'acme',
  execution_id: executionId,
  context: 'default',
  now: Math.floor(Date.now() / 1_000),
};
const program = join(import.meta.dirname, '../../dev/envelope/spoil.py');

function spoil(salt: string): Spoiled {
  const input = JSON.stringify({ ...settings, now: Math.floor(Date.now() / 1_000), salt });
  return JSON.parse(execFileSync('python3', [program], { input, maxBuffer: 64 * 1024 * 1024 }).toString()) as Spoiled;
}
/** Names of the variants, and what is the same at each run. */
const made = spoil('names');
const spoiled = made.variants.filter(({ status }) => status !== 200);
const valid = made.variants.filter(({ status }) => status === 200);

let nats: TestBus;
let replicas: GatewayWorld[];
beforeAll(async () => {
  nats = await startTestBus();
  const key = { publicKey: createPublicKey(made.pem), issuer: settings.issuer, audience: settings.audience };
  replicas = await Promise.all([0, 1].map(() => startGatewayWorld({ bus: nats.connect(), key })));
  await register(made.public_key, executionId);
  refused = await refusals();
});
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.close()));
  await nats.stop();
});

const register = (publicKey: string, execution: string): Promise<Response> =>
  fetch(`${replicas[0]?.url}/v1/seal/sessions`, {
    method: 'POST',
    headers: { authorization: 'Bearer acme', 'content-type': 'application/json' },
    body: JSON.stringify({
      execution_id: execution,
      agent_id: 'stranger',
      security_context: settings.context,
      public_key_b64: publicKey,
      security_token: made.token,
      allowed_tool_patterns: ['orders.*', 'Orders.*'],
    }),
  });

interface Answer {
  readonly status: number;
  readonly headers: string[];
  readonly text: string;
}

async function send(path: string, body: string, at = 0): Promise<Answer> {
  const response = await fetch(`${replicas[at]?.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(body, 'base64'),
  });
  const own = new Set(['date', 'x-request-id', 'keep-alive']);
  const headers = [...response.headers].filter(([name]) => !own.has(name)).map((header) => header.join(': '));
  return { status: response.status, headers: headers.toSorted(), text: await response.text() };
}

const errorOf = ({ text }: Answer) =>
  (JSON.parse(text) as { error?: { code: number; data: { code: number } | null } }).error;
const paths = ['/v1/invoke', '/v1/seal/invoke'] as const;

/** Answers to every spoiled variant by its title, one for each path; and what had left the gateway after all of them. */
let refused: { readonly answers: ReadonlyMap<string, Answer[]>; readonly left: readonly number[] };

/** Each path gets calls of its own, all of them within the window of their timestamps. */
async function refusals(): Promise<typeof refused> {
  const answers = new Map<string, Answer[]>();
  for (const [salt, path] of paths.entries()) {
    const { variants } = spoil(`path ${salt}`);
    const sent = variants.filter(({ status }) => status !== 200);
    const got = await Promise.all(sent.map(async ({ title, body }) => [title, await send(path, body)] as const));
    for (const [title, answer] of got) answers.set(title, [...(answers.get(title) ?? []), answer]);
  }
  return { answers, left: [sentRequests(), reads(), credentialEvents()] };
}

describe('an envelope of an independent signer', () => {
  it('AMB-012 has at least 60 spoiled variants', () => {
    expect(spoiled.length).toBeGreaterThanOrEqual(60);
  });

  it.each(spoiled.map((variant) => [variant.title, variant] as const))(
    'GW-INV-23 GW-INV-24 GW-INV-27 GEN-06 is refused alike over both paths: %s',
    (title, { status, rpc, code }) => {
      const [first, second] = refused.answers.get(title) ?? [];
      const error = first && errorOf(first);
      expect([first?.status, error?.code, error?.data?.code ?? null]).toEqual([status, rpc, code]);
      expect(second).toEqual(first);
    },
  );

  it('GW-INV-19 that is refused lets no byte leave and no credential be read', () => {
    expect(refused.left).toEqual([0, 0, 0]);
  });

  it('AMB-012 GW-INV-01 GEN-06 is accepted in every form of the same call over either path, and dropped afterwards', async () => {
    const { variants } = spoil('valid');
    const sent = variants.filter(({ status }) => status === 200);
    const first = await Promise.all(sent.map(({ body }, index) => send(paths[index % 2] ?? '', body)));
    expect(first.map(({ status, text }) => [status, JSON.parse(text).result?.isError])).toEqual(
      valid.map(() => [200, false]),
    );
    const again = await Promise.all(sent.map(({ body }, index) => send(paths[(index + 1) % 2] ?? '', body, 1)));
    expect(again.map(({ status }) => status)).toEqual(valid.map(() => 401));
  });

  it('GW-INV-17 AMB-001 is run once, when it comes forty times at once over two replicas and both paths', async () => {
    const body = spoil('many').variants[0]?.body ?? '';
    const before = sentRequests();
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => send(paths[index % 2] ?? '', body, index % 3 === 0 ? 1 : 0)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(39);
    expect(sentRequests()).toBe(before + 1);
  });

  it.each(made.weak_keys)(
    'AMB-142 cannot be of a session whose key has small order or another form: %s',
    async (key) => {
      expect((await register(key, `weak-${randomUUID()}`)).status).toBe(400);
    },
  );

  it('GEN-07 never shows the credential of the upstream, in no answer and no event', async () => {
    const { text } = await send('/v1/invoke', spoil('last').variants[0]?.body ?? '');
    expect(text + JSON.stringify(replicas.map(({ events }) => events))).not.toContain(canary);
    expect(reads()).toBeGreaterThan(0);
  });
});

const sentRequests = (): number => replicas.flatMap((replica) => replica.upstreamPaths()).length;
const reads = (): number => replicas.reduce((sum, replica) => sum + replica.secretReads(), 0);
const credentialEvents = (): number =>
  replicas.flatMap(({ events }) => events).filter(({ type }) => type.startsWith('CredentialExchange')).length;
