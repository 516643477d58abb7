import { createHook } from 'node:async_hooks';
import { generateKeyPairSync } from 'node:crypto';
import { expect, it } from 'vitest';
import { openEdgeCommand } from '../../lib/edge/index.ts';
import type { StoredHost } from '../hosts/host-store.ts';
import { LiveStream } from './live-stream.ts';

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

it('EDGE-FLOW-06 seals messages in their order, without a thread of the pool for any of them', async () => {
  const relayKey = generateKeyPairSync('ed25519');
  const written: Uint8Array[] = [];
  const pipe = { send: async (bytes: Uint8Array) => void written.push(bytes), interrupt: () => undefined };
  const [nodeId, streamId] = ['n', 's'];
  const token = { text: 't', jti: 'j', keyHash: 'k', ends: 0 };
  const deps = { clock: { now: () => Date.now() }, hosts: { find: async () => undefined }, relayKey };
  const host = { tenant: 'acme', object: { metadata: { uid: 'u' } } } as unknown as StoredHost;
  const facts = { nodeId, token, streamId, beganAt: 0, deps, pipe };
  const stream = new LiveStream(facts, host, {
    os: 'linux',
    arch: 'x64',
    local_tools: [],
    mount_points: [],
    labels: {},
  });
  const ids = ['a', 'b', 'c'];
  const jobs = await pooledSignatures(() =>
    Promise.all(ids.map((id) => stream.send({ command: undefined, resultAck: { commandIds: [id] } }))),
  );
  let after = 0n;
  const read = written.map((bytes) => {
    const { command, sequence } = openEdgeCommand(bytes, { key: relayKey.publicKey, nodeId, streamId, after });
    after = sequence;
    return command.resultAck?.commandIds;
  });
  expect([read, jobs]).toEqual([ids.map((id) => [id]), 0]);
});
