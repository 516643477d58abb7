import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { bytesOf } from '../../../lib/memory-budget/index.ts';
import { silentLogger } from '../../../test/support/silent-logger.ts';
import { createRegisteredTools, type RegisteredCaller } from './registered-tools.ts';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;
const mebibyte = 1_048_576;

const callerOf = (agent: number) =>
  ({
    tenant: 'acme',
    signer: { session: 's', name: 'n', context: 'default', tools: ['t.*', `u.v${agent}`] },
    security: { tools: ['*'] },
    agent: { spec: { tools: [{ name: 't.*' }] } },
  }) as unknown as RegisteredCaller;

const schemas = {
  plain: { properties: Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`field_${at}`, { type: 'string' }])) },
  dense: { properties: { a: { enum: Array.from({ length: 780 }, () => [{}]) } } },
} as const;

/** An answer of the gateway that takes as many bytes as the bus permits, about. */
function world(kind: keyof typeof schemas) {
  const tools = Array.from({ length: 127 }, (_, at) => ({
    name: `t.tool${at}`,
    description: 'd',
    input_schema: { type: 'object', ...schemas[kind] },
  }));
  const body = Buffer.from(JSON.stringify({ tools, left_out: 0 }));
  const asked = { times: 0 };
  const bus = {
    request: async () => {
      asked.times += 1;
      return body;
    },
  };
  const call = async () => ({ content: '', isError: false });
  const source = createRegisteredTools({ bus, logger: silentLogger, call } as never);
  const offered = (agent: number) => source.offered(callerOf(agent), new AbortController().signal);
  return { offered, asked, tools };
}

it.each(['plain', 'dense'] as const)(
  '§11 %s lists of many agents take no more heap than their row says',
  async (kind) => {
    const { offered } = world(kind);
    gc();
    const before = process.memoryUsage().heapUsed;
    for (let agent = 0; agent < 60; agent += 1) await offered(agent);
    gc();
    const grown = process.memoryUsage().heapUsed - before;
    expect(grown).toBeLessThan(1.5 * bytesOf('lists of registered tools') + 8 * mebibyte);
  },
);

it('§11 a list holds as many tools as fit into 2 MiB of heap', async () => {
  const plain = world('plain');
  expect(await plain.offered(0)).toHaveLength(127);
  const dense = await world('dense').offered(0);
  expect(dense.length).toBeGreaterThan(0);
  expect(dense.length).toBeLessThan(127);
});

it('a list is asked for once for the questions of one agent at a time', async () => {
  const { offered, asked } = world('plain');
  await offered(0);
  await offered(0);
  expect(asked.times).toBe(1);
});
