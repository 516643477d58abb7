import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSealInvokeRoutes } from '../../api/routes/seal/invoke.ts';
import type { BucketDefinition, EventBus } from '../../lib/bus/index.ts';
import { systemClock } from '../../lib/clock.ts';
import {
  createCallCounter,
  createCallsUnderWay,
  createEnvelopeProof,
  createProofPool,
  createSealSessions,
  createVouch,
  issueSession,
  issueToken,
  type SealKey,
} from '../../lib/envelope/index.ts';
import { newId } from '../../lib/ids.ts';
import { createToolbox } from '../../lib/tools/toolbox.ts';
import { aToolCaller } from '../builders/tool-caller.ts';
import { startTestBus, type TestBus } from '../nats/test-bus.ts';
import { type GatewayWorld, startGatewayWorld } from '../support/gateway-world.ts';
import { startTestServer, type TestServer } from '../support/http-server.ts';
import { aSigner, type Signer } from '../support/seal-world.ts';

/** More than strangers have places and a line for, by more than the places of both pools. */
const floodOfStrangers = 360;
/** More than the pool of holders has places and a line for. */
const floodOfHolders = 1_100;
/** Proofs of one stranger's address at once: four fifths of 16. */
const ofStranger = 12;

const key: SealKey = { ...generateKeyPairSync('ed25519'), issuer: 'windlass', audience: 'windlass-tools' };
let nats: TestBus;
beforeAll(async () => {
  nats = await startTestBus();
});
afterAll(() => nats.stop());

/** NATS, whose reads of sessions wait while it is slow. */
let isSlow: boolean;
let held: number;
let answerAll: () => void;
let gateway: GatewayWorld;
let api: TestServer;

function slowed(bus: EventBus, released: Promise<void>): EventBus {
  const slow = <T>(bucket: ReturnType<typeof bus.bucket<T>>): typeof bucket => ({
    ...methodsOf(bucket),
    async get(name) {
      if (isSlow) {
        held += 1;
        await released;
      }
      return bucket.get(name);
    },
  });
  const bucket = <T>(definition: BucketDefinition) =>
    definition.name === 'seal_sessions' ? slow(bus.bucket<T>(definition)) : bus.bucket<T>(definition);
  return { ...methodsOf(bus), bucket } as EventBus;
}

/** An object of a class as one that can be spread. */
const methodsOf = <T extends object>(of: T): T =>
  new Proxy(of, {
    ownKeys: () => namesOf(of),
    getOwnPropertyDescriptor: (_of, name) => ({ configurable: true, enumerable: true, value: memberOf(of, name) }),
  });
const namesOf = (of: object): (string | symbol)[] =>
  of === Object.prototype
    ? []
    : [...new Set([...Reflect.ownKeys(of), ...namesOf(Object.getPrototypeOf(of) as object)])];
function memberOf(of: object, name: string | symbol): unknown {
  const member: unknown = Reflect.get(of, name);
  return typeof member === 'function' ? (member.bind(of) as unknown) : member;
}

beforeEach(async () => {
  [isSlow, held] = [false, 0];
  const released = Promise.withResolvers<void>();
  answerAll = released.resolve;
  const bus = slowed(await nats.connected(), released.promise);
  gateway = await startGatewayWorld({ bus, key });
  api = await startApi(bus);
});
afterEach(async () => {
  answerAll();
  await Promise.all([gateway.close(), api.close()]);
});

function startApi(bus: EventBus): Promise<TestServer> {
  const proof = { bus, clock: systemClock, key, sessions: createSealSessions(bus) };
  const proofs = createProofPool(proof);
  const routes = createSealInvokeRoutes({
    ...proof,
    proofs,
    admission: createCallsUnderWay(systemClock),
    audit: { record: () => undefined },
    prove: createEnvelopeProof(proof),
    vouch: createVouch({ ...proof, proofs }),
    rateLimit: { take: async () => undefined },
    toolbox: createToolbox(
      { builtin_dispatchers: [] },
      { 'svc.tools.list': { kind: 'api', run: async () => ({ content: '{}', isError: false }) } },
    ),
    calls: createCallCounter(bus),
    callerOf: async ({ tenant }) => ({ ...aToolCaller({ spec: { tools: [{ name: 'svc.*' }] } }), tenant }),
    events: { raise: () => undefined },
    newId,
    container: { problem: () => undefined, run: () => Promise.reject(new Error('this tool runs in no pod')) },
  });
  return startTestServer(routes.map(({ caller: _caller, ...route }) => route));
}

interface Victim {
  readonly executionId: string;
  readonly signer: Signer;
  readonly token: string;
}

async function aVictim(): Promise<Victim> {
  const [executionId, signer] = [randomUUID(), aSigner()];
  const sessions = createSealSessions(await nats.connected());
  const { security_token: token } = await issueSession(
    { key, sessions, clock: systemClock, newId },
    { executionId, tenant: 'acme', podUid: 'p-1', securityContext: 'default', publicKey: signer.publicKey },
  );
  return { executionId, signer, token };
}

interface Door {
  readonly url: () => string;
  readonly tool: string;
  /** Where the seal is: in the body, or in headers. */
  readonly isMcp?: true;
}

interface Sealed {
  readonly token: string;
  readonly executionId: string;
  readonly signature?: string;
  readonly signer?: Signer;
  readonly pad?: number;
}

function send(door: Door, { token, executionId, signer = aStranger, pad = 0 }: Sealed): Promise<Response> {
  const timestamp = Math.floor(Date.now() / 1_000);
  const params = { name: door.tool, arguments: {}, ...(pad === 0 ? {} : { pad: 'x'.repeat(pad) }) };
  const method = door.isMcp ? 'tools/list' : 'tools/call';
  const payload = { jsonrpc: '2.0', id: randomUUID(), method, params: door.isMcp ? {} : params };
  const envelope = signer.sign({ token, timestamp, payload, executionId });
  if (door.isMcp !== true) return fetch(door.url(), { method: 'POST', body: JSON.stringify(envelope) });
  const headers = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    authorization: `Bearer ${token}`,
    'seal-execution-id': executionId,
    'seal-timestamp': String(timestamp),
    'seal-signature': String(envelope['signature']),
  };
  return fetch(door.url(), { method: 'POST', headers, body: JSON.stringify(payload) });
}

const aStranger = aSigner();
const doors: Record<string, Door> = {
  'the gateway': { url: () => `${gateway.url}/v1/invoke`, tool: 'orders.none' },
  'the gateway, MCP': { url: () => `${gateway.url}/v1/mcp`, tool: '', isMcp: true },
  'the API': { url: () => `${api.url}/v1/seal/invoke`, tool: 'svc.tools.list' },
};

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
/** A token that claims to be of the tenant, with a signature of no key of ours. */
const forged = (): string =>
  [part({ alg: 'EdDSA' }), part({ tenant_id: 'acme', jti: randomUUID() }), randomBytes(64).toString('base64url')].join(
    '.',
  );

/** Sends the flood while NATS is slow, until some of it is refused: every place and every line it can have is taken by then. */
async function fill(door: Door, callOf: () => Sealed, flood: number): Promise<Promise<number>[]> {
  isSlow = true;
  let refused = 0;
  const calls = Array.from({ length: flood }, async () => {
    const { status, body } = await send(door, callOf());
    await body?.cancel();
    if (status === 503) refused += 1;
    return status;
  });
  await vi.waitFor(() => expect(refused).toBeGreaterThan(flood / 3), { timeout: 60_000 });
  isSlow = false;
  return calls;
}

/** Mallory has no token. She knows the id of the victim's execution, or makes ids up, and sends as much as she likes. */
describe.each(Object.entries(doors))('a flood of calls without a proof at %s', { timeout: 120_000 }, (_name, door) => {
  it.each<[string, (victim: Victim) => () => Sealed]>([
    [
      'the session of a victim',
      ({ executionId }) =>
        () => ({ executionId, token: forged() }),
    ],
    ['sessions that are not there', () => () => ({ executionId: randomUUID(), token: forged() })],
    [
      'the session of a victim, in large bodies',
      ({ executionId }) =>
        () => ({ executionId, token: forged(), pad: 5_000 }),
    ],
  ])('ADR 0130 that names %s takes 12 proofs at once, and nothing of what the victim has', async (_title, callOf) => {
    const victim = await aVictim();
    const calls = await fill(door, callOf(victim), floodOfStrangers);
    const proofs = held;
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(door, victim)));
    const texts = await Promise.all(answers.map(async (answer) => `${answer.status} ${await answer.text()}`));
    // The gateway has no such tool: by then the call is proved.
    for (const text of texts) expect(text).toMatch(/^200 |UnknownTool|"unknown tool|there is no tool/);
    expect(proofs).toBe(ofStranger);
    answerAll();
    expect(new Set(await Promise.all(calls))).not.toContain(200);
  });
});

describe('a caller with a token of its own tenant', { timeout: 120_000 }, () => {
  it('ADR 0130 that names sessions of another one takes of the share of its own', async () => {
    const victim = await aVictim();
    const now = Math.floor(Date.now() / 1_000);
    const token = await issueToken(key, {
      jti: newId(),
      scp: 'default',
      tenant_id: 'mallory',
      iat: now,
      exp: now + 600,
    });
    const door = doors['the API'] as Door;
    const calls = await fill(door, () => ({ executionId: victim.executionId, token }), floodOfHolders);
    expect(held).toBe(51);
    expect((await send(door, victim)).status).toBe(200);
    answerAll();
    expect(new Set(await Promise.all(calls))).not.toContain(200);
  });
});
