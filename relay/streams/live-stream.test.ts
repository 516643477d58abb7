import { createHook } from 'node:async_hooks';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { openEdgeCommand } from '../../lib/edge/index.ts';
import type { StoredHost } from '../hosts/host-store.ts';
import { createKeyReader } from './key-reader.ts';
import { heldToken, LiveStream } from './live-stream.ts';

/** Signatures that were made or verified in a thread of the pool while the work ran: those alone call back. */
async function pooledSignatures(work: () => Promise<unknown>): Promise<number> {
  const made = new Set<number>();
  let jobs = 0;
  const hook = createHook({
    init: (id, type) => void (type === 'SIGNREQUEST' && made.add(id)),
    before: (id) => void (jobs += Number(made.has(id))),
  });
  hook.enable();
  await work();
  hook.disable();
  return jobs;
}

const readKey = createKeyReader();
/** To make a pair takes a hundred times as long as to make up a public key; below 2^249 it is in canonical form. */
const keyText = (): string => Buffer.concat([randomBytes(31), Buffer.of(1)]).toString('base64');

it.each([
  [1_023, true],
  [1_024, false],
  [1_025, false],
])('a relay that has heard %d other hosts since has the key of a host still parsed: %s', (others, isParsed) => {
  const read = createKeyReader();
  const text = keyText();
  const key = read(text);
  for (let host = 0; host < others; host += 1) read(keyText());
  expect(read(text) === key).toBe(isParsed);
});

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

it('a relay keeps the parsed keys of 1,024 hosts, whatever the number of its streams', async () => {
  const read = createKeyReader();
  const keys = Array.from({ length: 2_000 }, () => new WeakRef(read(keyText())));
  // A key lives until the turn ends in which it was referred to.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  const kept = keys.filter((key) => key.deref() !== undefined).length;
  expect([kept, read(keyText()) === undefined]).toEqual([1_024, false]);
});

it('a stream keeps the digest of its token, which takes half a kilobyte', () => {
  const text = 'x'.repeat(442);
  const claims = { nodeId: 'n', tid: 'acme', jti: 'j', keyHash: 'k', iat: 0, exp: 1 };
  expect(Object.values(heldToken(text, claims)).join('').length).toBeLessThan(64);
  expect(heldToken(`${text.slice(1)}y`, claims).digest).not.toBe(heldToken(text, claims).digest);
});

/** A stream, and what its daemon reads. */
function opened() {
  const relayKey = generateKeyPairSync('ed25519');
  const written: Uint8Array[] = [];
  const pipe = { send: async (bytes: Uint8Array) => void written.push(bytes), interrupt: () => undefined };
  const [nodeId, streamId] = ['n', 's'];
  const token = { digest: 't', jti: 'j', keyHash: 'k', ends: 0 };
  const deps = { clock: { now: () => Date.now() }, hosts: { find: async () => undefined }, relayKey, readKey };
  const host = { tenant: 'acme', object: { metadata: { uid: 'u' } } } as unknown as StoredHost;
  const facts = { nodeId, token, streamId, beganAt: 0, deps, pipe };
  const stream = new LiveStream(facts, host, {
    os: 'linux',
    arch: 'x64',
    local_tools: [],
    mount_points: [],
    labels: {},
  });
  let after = 0n;
  const read = () =>
    written.splice(0).map((bytes) => {
      const { command, sequence } = openEdgeCommand(bytes, { key: relayKey.publicKey, nodeId, streamId, after });
      after = sequence;
      return command;
    });
  return { stream, read };
}

const cancel = (commandId: string) => ({ $case: 'cancel' as const, value: { commandId, reason: '' } });

it('EDGE-FLOW-06 seals messages in their order, without a thread of the pool for any of them', async () => {
  const { stream, read } = opened();
  const ids = ['a', 'b', 'c'];
  const jobs = await pooledSignatures(() => Promise.all(ids.map((id) => stream.send(cancel(id)))));
  expect(read()).toMatchObject(ids.map((id) => ({ command: cancel(id), resultAck: undefined })));
  expect(jobs).toBe(0);
});

it('EDGE-FLOW-11 a message takes the acknowledgements that are owed along, and none is written twice', async () => {
  const { stream, read } = opened();
  expect(['a', 'b'].map((id) => stream.owe(id))).toEqual([1, 2]);
  await Promise.all([stream.acknowledge(), stream.send(cancel('c')), stream.acknowledge()]);
  expect(read()).toMatchObject([{ resultAck: { commandIds: ['a', 'b'] } }, { command: cancel('c') }]);
  expect(stream.owe('d')).toBe(1);
  await stream.send(cancel('e'));
  await stream.acknowledge();
  expect(read()).toMatchObject([{ command: cancel('e'), resultAck: { commandIds: ['d'] } }]);
});
