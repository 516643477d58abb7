import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { edgeLimits } from '../../lib/edge/index.ts';
import { Struct } from '../../proto/generated/google/protobuf/struct.ts';
import { countTurns } from '../../test/support/count-turns.ts';
import { field, fields } from '../../test/support/wire.ts';
import { createReadPayload } from './payload.ts';

const typeUrl = 'type.googleapis.com/google.protobuf.Struct';

/** `{"a": list}`, where an entry of the map, its key and its value, and the list are four fields. */
const around = (list: Uint8Array): Buffer => field(1, fields(field(1, 'a'), field(2, field(6, list))));
const emptyStruct = field(1, field(5, Buffer.alloc(0)));
/** As many empty structs as a payload may have, each of which is a value with a message in it. */
const most = (edgeLimits.payloadFields - 4) / 2;
const largest = around(Buffer.concat(Array<Buffer>(most).fill(emptyStruct)));

it('has as many fields as the bound permits, at all levels together, and no more', async () => {
  const read = createReadPayload(systemClock);
  expect(await read('acme', { typeUrl, value: largest })).toEqual({ kept: { a: Array(most).fill({}) } });
  for (const more of [fields(largest, field(1, Buffer.alloc(0))), fields(largest, field(15, 1))])
    expect(await read('acme', { typeUrl, value: more })).toMatchObject({
      problem: expect.stringContaining('more than 32768 fields'),
    });
});

it('that is nested deeper than any reader reads is refused, and takes no stack', async () => {
  const read = createReadPayload(systemClock);
  let list: Uint8Array = Buffer.alloc(0);
  for (let level = 0; level < 5_000; level += 1) list = field(1, field(6, list));
  expect(await read('acme', { typeUrl, value: around(list) })).toMatchObject({
    problem: expect.stringContaining('levels'),
  });
});

it('EDGE-FLOW-11 keeps each name that a host gives, such as those that every object has', async () => {
  const read = createReadPayload(systemClock);
  const json = '{"__proto__":{"constructor":"a","__proto__":"b"},"toString":[{"__proto__":null}]}';
  const value = Struct.encode(Struct.wrap(JSON.parse(json) as Record<string, unknown>)).finish();
  const payload = await read('acme', { typeUrl, value });
  expect('kept' in payload ? JSON.stringify(payload.kept) : payload).toBe(json);
});

it('is the same as its writer has made it', async () => {
  const read = createReadPayload(systemClock);
  const content = { text: 'x'.repeat(40_000), list: [1, 'two', null, true, { three: [] }], '4': { 5: -0.5 } };
  const value = Struct.encode(Struct.wrap(content)).finish();
  expect(await read('acme', { typeUrl, value })).toEqual({ kept: content });
});

it('has turns of the event loop that tenants share: the hosts of one do not hold up another', async () => {
  const read = createReadPayload(systemClock);
  const ended: string[] = [];
  const work = (tenant: string) => read(tenant, { typeUrl, value: largest }).then(() => void ended.push(tenant));
  const turns = await countTurns(async () => {
    const flood = Array.from({ length: 10 }, () => work('mallory'));
    await setImmediate();
    await Promise.all([...flood, work('ada')]);
  });
  // The one that has begun ends before.
  expect(ended.indexOf('ada')).toBeLessThanOrEqual(2);
  expect(turns).toBeGreaterThanOrEqual(20);
});

it('of few bytes share one turn', async () => {
  const read = createReadPayload(systemClock);
  const value = Struct.encode(Struct.wrap({ stdout: 'x', exit_code: 0 })).finish();
  const turns = await countTurns(() =>
    Promise.all(Array.from({ length: 100 }, () => read('acme', { typeUrl, value }))),
  );
  expect(turns).toBeLessThanOrEqual(2);
});
