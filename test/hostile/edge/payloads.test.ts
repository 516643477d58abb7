import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { edgeLimits } from '../../../lib/edge/index.ts';
import { Struct } from '../../../proto/generated/google/protobuf/struct.ts';
import { ProtocolWorld } from '../../contract/edge-protocol/protocol-world.ts';
import { field, fields } from '../../support/wire.ts';
import type { WireStream } from '../../support/wire-daemon.ts';

let world: ProtocolWorld;
beforeAll(async () => {
  world = await ProtocolWorld.start();
}, 60_000);
afterAll(() => world.stop());
afterEach(async () => {
  vi.restoreAllMocks();
  await world.clear();
});

/** `{"a": [{}, {}, …]}`, whose structs take four bytes each, and two fields. */
function structs(count: number): Buffer {
  const list = Buffer.concat(Array<Buffer>(count).fill(field(1, field(5, Buffer.alloc(0)))));
  return field(1, fields(field(1, 'a'), field(2, field(6, list))));
}

function sendResult(stream: WireStream, commandId: string, payload: Uint8Array): void {
  const any = fields(field(1, 'type.googleapis.com/google.protobuf.Struct'), field(2, payload));
  stream.send('commandResult', fields(field(2, commandId), field(3, field(1, field(2, any)))));
}

const acknowledged = (stream: WireStream): string[] =>
  stream.commands.flatMap((command) => command.message(11).texts(1));

/** A host with a stream. */
async function connected() {
  const { client } = await world.relay();
  const host = await world.enroll(client);
  return { host, stream: await world.connected(client, host) };
}

it('EDGE-FLOW-11 for a command that the host does not have, or that has ended, is acknowledged and never decoded', async () => {
  const { host, stream } = await connected();
  const { commandId } = await world.claim(host);
  const decode = vi.spyOn(Struct, 'decode');
  sendResult(stream, commandId, structs(0));
  await vi.waitFor(() => expect(acknowledged(stream)).toEqual([commandId]));
  expect(decode).toHaveBeenCalledOnce();
  for (const id of ['x', commandId]) for (let time = 0; time < 3; time += 1) sendResult(stream, id, structs(130_000));
  await vi.waitFor(() => expect(acknowledged(stream)).toHaveLength(7), { timeout: 10_000 });
  expect(decode).toHaveBeenCalledOnce();
});

const most = (edgeLimits.payloadFields - 4) / 2;

/** How a claimed command ended whose result has so many structs, and how often a struct was decoded. */
async function ended(count: number) {
  const { host, stream } = await connected();
  const claimed = await world.claim(host);
  const decode = vi.spyOn(Struct, 'decode');
  sendResult(stream, claimed.commandId, structs(count));
  const [news] = await world.news(claimed, 1);
  expect(acknowledged(stream)).toEqual([claimed.commandId]);
  return { news, decoded: decode.mock.calls.length };
}

it('EDGE-PROTO-27 with as many fields as the bound permits is kept whole', async () => {
  const { news } = await ended(most);
  expect(news).toMatchObject({ kind: 'result', result: { outcome: 'ok', payload: { a: Array(most).fill({}) } } });
});

it('EDGE-PROTO-27 with two fields more is an error, which is never decoded, and leaves its stream open', async () => {
  const { news, decoded } = await ended(most + 1);
  const message = expect.stringContaining('more than 32768 fields');
  expect(news).toMatchObject({ kind: 'result', result: { outcome: 'err', code: 'PayloadInvalid', message } });
  expect(decoded).toBe(0);
});
