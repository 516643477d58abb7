import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { mintNodeToken, sealRotation } from '../../lib/edge/index.ts';
import { AppError } from '../../lib/errors.ts';
import { createMemoryHosts, type MemoryHosts } from '../../test/support/memory-hosts.ts';
import { type RotateDeps, rotateEdgeKey } from './rotate.ts';
import { createRotateLimit, rotationPace } from './rotate-limit.ts';

type Pair = ReturnType<typeof newPair>;
const newPair = () => generateKeyPairSync('ed25519');
const textOf = ({ publicKey }: Pair): string =>
  publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64');

const relayKey = newPair();
const yearMs = 365 * 86_400_000;
/** Sleeps are real, since signatures are; the steady clock stops until a test moves it. */
let steady: number;
/** How long a wait of this many milliseconds takes; undefined: as long. */
let shortened: number | undefined;
const clock = {
  now: () => systemClock.now(),
  steadyMs: () => steady,
  sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms === shortened ? 20 : ms, signal),
};
let memory: MemoryHosts;
let deps: RotateDeps;
/** How long a read of the API server takes. */
let readMs: number;
let reads: number;
/** Reads under way, and the most of them. */
let open: number;
let most: number;

beforeEach(() => {
  steady = 1_000;
  shortened = undefined;
  memory = createMemoryHosts();
  readMs = 0;
  [reads, open, most] = [0, 0, 0];
  const hosts: MemoryHosts = {
    ...memory,
    async find(tenant, nodeId) {
      reads += 1;
      open += 1;
      most = Math.max(most, open);
      await clock.sleep(readMs);
      open -= 1;
      return memory.find(tenant, nodeId);
    },
  };
  deps = {
    clock,
    hosts,
    relayKey,
    nodeTokenMs: 86_400_000,
    overlapMs: 300_000,
    heartbeatMs: 30_000,
    keyHolders: { isOfAnother: () => false },
    rotations: createRotateLimit(clock),
  };
});

interface Host {
  readonly nodeId: string;
  key: Pair;
  token: string;
}

/** A host whose token was issued a year ago. */
async function enrolled(): Promise<Host> {
  const [nodeId, key] = [randomUUID(), newPair()];
  const made = await memory.create({ tenant: 'acme', nodeId, name: undefined, enrolledBy: 'ada' });
  const at = new Date(clock.now()).toISOString();
  const keys = { current: textOf(key) };
  const own = { node_id: nodeId, since: at, enrolled_at: at, keys, token_jti: 'j' };
  await memory.write(made, { ...own, status: 'Connected' });
  const facts = { nodeId, tid: 'acme', jti: 'j', publicKey: key.publicKey };
  const issuedAt = clock.now() - yearMs;
  return { nodeId, key, token: await mintNodeToken(relayKey.privateKey, { ...facts, issuedAt, lifeMs: 86_400_000 }) };
}

interface Asked {
  readonly signer?: Pair;
  readonly next?: Pair;
  readonly address?: string;
}

const ask = ({ nodeId, token, key }: Host, { signer = key, next = newPair(), address = 'a' }: Asked = {}) =>
  rotateEdgeKey(
    deps,
    sealRotation(next, { key: signer.privateKey, nodeId, token, sequence: 1n, now: clock.now() }),
    address,
  );

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'ok';
  } catch (error) {
    return error instanceof AppError ? error.code : 'unknown';
  }
}

/** One rotation that succeeds. */
async function rotate(host: Host): Promise<void> {
  const next = newPair();
  const { nodeSecurityToken } = await ask(host, { next });
  host.key = next;
  host.token = nodeSecurityToken;
}

describe('EDGE-FLOW-24 a stranger with an old token', () => {
  it('has the API server asked about a host 32 times, and then once in ten seconds, few times at once', async () => {
    const host = await enrolled();
    const [signer, next] = [newPair(), newPair()];
    readMs = 5;
    const codes = await Promise.all(Array.from({ length: 300 }, () => codeOf(ask(host, { signer, next }))));
    expect(reads).toBe(32);
    expect(most).toBeLessThanOrEqual(4);
    expect(codes.filter((code) => code === 'limit_exceeded')).toHaveLength(300 - 32);
    steady += 10_000;
    expect(await codeOf(ask(host, { signer }))).toBe('unauthenticated');
    expect(await codeOf(ask(host, { signer }))).toBe('limit_exceeded');
  });

  it('takes nothing from the host itself', async () => {
    const host = await enrolled();
    const signer = newPair();
    readMs = 20;
    const flood = Promise.all(Array.from({ length: 200 }, () => codeOf(ask(host, { signer }))));
    expect(await codeOf(ask(host, { address: 'b' }))).toBe('ok');
    expect(await flood).not.toContain('ok');
    expect(await codeOf(ask(host, { signer }))).toBe('limit_exceeded');
  });

  it('costs no read at all where the envelope proves nothing', async () => {
    const host = await enrolled();
    const other = await enrolled();
    const seal = (now: number, sequence: bigint, token = host.token) =>
      sealRotation(newPair(), { key: host.key.privateKey, nodeId: host.nodeId, token, sequence, now });
    for (const bytes of [
      seal(clock.now() - 301_000, 1n),
      seal(clock.now(), 0n),
      seal(clock.now(), 1n, other.token),
      seal(clock.now(), 1n, 'a.b.c'),
    ])
      expect(await codeOf(rotateEdgeKey(deps, bytes, 'a'))).toBe('unauthenticated');
    expect(reads).toBe(0);
  });

  it('is bounded over many hosts, in turns of addresses', async () => {
    const hosts = await Promise.all(Array.from({ length: 30 }, enrolled));
    const signer = newPair();
    readMs = 50;
    const order: string[] = [];
    const work = (host: Host, address: string) =>
      codeOf(ask(host, { signer, address })).then(() => void order.push(address));
    const flood = hosts.slice(1).map((host) => work(host, 'flood'));
    const [first] = hosts;
    if (first === undefined) throw new Error('no host');
    const one = work(first, 'one');
    await Promise.all([...flood, one]);
    expect(most).toBeLessThanOrEqual(4);
    expect(order.indexOf('one')).toBeLessThan(10);
  });
});

describe('EDGE-FLOW-24 the holder of a key that was replaced', () => {
  it('takes no call of the host that has the new key', async () => {
    const host = await enrolled();
    const signer = host.key;
    await rotate(host);
    const before = reads;
    const codes = await Promise.all(Array.from({ length: 100 }, () => codeOf(ask(host, { signer }))));
    expect(new Set(codes)).toEqual(new Set(['unauthenticated', 'limit_exceeded']));
    await rotate(host);
    // One of the 32 was the rotation itself.
    expect(reads - before).toBe(31 + 1);
  });

  it('takes none either while the memory of the relay is behind, and has that key as the current one', async () => {
    const host = await enrolled();
    const signer = host.key;
    const release = memory.holdNews();
    await rotate(host);
    for (let turn = 0; turn < 40; turn += 1) await codeOf(ask(host, { signer }));
    release();
    expect(await codeOf(ask(host))).toBe('ok');
  });

  it('is a stranger once the overlap of the two keys is over', async () => {
    const hosts = await Promise.all(Array.from({ length: 30 }, enrolled));
    const signers = hosts.map(({ key }) => key);
    deps = { ...deps, overlapMs: 0 };
    for (const host of hosts) await rotate(host);
    readMs = 50;
    most = 0;
    await Promise.all(hosts.map((host, at) => codeOf(ask(host, { signer: signers[at] ?? host.key }))));
    expect(most).toBeLessThanOrEqual(4);
  });
});

describe('EDGE-FLOW-26 a host that rotates without a rest', () => {
  it('is written eight times, and then once a minute; the error says when to come back', async () => {
    const host = await enrolled();
    const before = memory.writes();
    for (let turn = 0; turn < rotationPace.burst; turn += 1) await rotate(host);
    steady += 20_000;
    await expect(rotate(host)).rejects.toMatchObject({
      code: 'limit_exceeded',
      message: 'the key of this host is replaced too often; try again in 40 s',
      options: { metadata: { 'grpc-retry-pushback-ms': '40000' } },
    });
    expect(memory.writes() - before).toBe(8);
    steady += 40_000;
    await rotate(host);
    await expect(rotate(host)).rejects.toMatchObject({ code: 'limit_exceeded' });
    expect(memory.writes() - before).toBe(9);
  });

  it('is read 32 times, and then once in ten seconds, whatever it asks for', async () => {
    const host = await enrolled();
    for (let turn = 0; turn < 100; turn += 1) await codeOf(ask(host, { next: host.key }));
    expect(reads).toBe(32);
    steady += 10_000;
    expect(await codeOf(ask(host))).toBe('ok');
  });

  it('has its scheduled rotations for a month', async () => {
    const host = await enrolled();
    const before = memory.writes();
    for (let turn = 0; turn < 60; turn += 1) {
      await rotate(host);
      steady += 12 * 3_600_000;
    }
    expect(memory.writes() - before).toBe(60);
  });

  it('loses none of its turns to rotations that another one overtook, or that could not be written', async () => {
    const host = await enrolled();
    const away = new AppError('unavailable', 'the API server is away');
    const write = memory.write.bind(memory);
    const answers = [undefined, away];
    deps = {
      ...deps,
      hosts: {
        ...deps.hosts,
        async write(stored, status) {
          const answer = answers.shift();
          if (answer !== undefined) throw answer;
          return answers.length > 0 ? undefined : write(stored, status);
        },
      },
    };
    const codes: string[] = [];
    for (let turn = 0; turn < 2; turn += 1) codes.push(await codeOf(ask(host)));
    expect(codes).toEqual(['conflict', 'unavailable']);
    for (let turn = 0; turn < rotationPace.burst; turn += 1) await rotate(host);
  });
});

describe('EDGE-FLOW-19 the memory of a relay that is behind', () => {
  it('refuses no host whose key it does not know yet', async () => {
    const host = await enrolled();
    const release = memory.holdNews();
    await rotate(host);
    await rotate(host);
    await rotate(host);
    release();
    expect((await memory.find('acme', host.nodeId))?.object.status?.keys.current).toBe(textOf(host.key));
  });

  it('takes no key that the server has replaced', async () => {
    const host = await enrolled();
    const old = host.key;
    const release = memory.holdNews();
    await rotate(host);
    expect(await codeOf(ask(host, { signer: old }))).toBe('unauthenticated');
    release();
  });
});

it('a read that hangs ends after eight seconds', async () => {
  const host = await enrolled();
  readMs = 30_000;
  shortened = 8_000;
  expect(await codeOf(ask(host))).toBe('unavailable');
});
