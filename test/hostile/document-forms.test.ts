import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { limits } from '../../crds/limits.ts';
import { createSpecRoutes, type SpecRoutesDeps } from '../../gateway/routes/specs/index.ts';
import { jsonCost } from '../../lib/http/json-cost.ts';
import { readBody } from '../../lib/http/read-body.ts';
import { startTestServer } from '../support/http-server.ts';
import { endlessRoom } from '../support/whole-body.ts';

const most = limits.apiDocumentBytes;
const deps = {
  newId: () => 'id',
  tenancy: { assertOwn: async () => undefined, namespaceOf: () => 'tenant-acme' },
  kube: { create: async (_resource: unknown, object: object) => object, delete: async () => true },
  registry: { visible: () => [], create: async (_: unknown, spec: object) => ({ ...spec, metadata: { uid: 'u-1' } }) },
  openApi: { readOpenApi: async () => ({ problems: [] }) },
} as unknown as SpecRoutesDeps;

/** As writers do that keep to ASCII. */
const ascii = (text: string): string => text.replaceAll('é', String.raw`\u00e9`);

/** Texts of so many bytes, and how they are written into a body. */
const forms: [string, (bytes: number) => string, (body: string) => string][] = [
  ['plain', (bytes) => 'x'.repeat(bytes), String],
  ['of quotes', (bytes) => '"'.repeat(bytes), String],
  ['of ends of lines', (bytes) => '\n'.repeat(bytes), String],
  ['of accents, in ASCII', (bytes) => 'é'.repeat(bytes / 2).padEnd(bytes - Math.floor(bytes / 2), 'x'), ascii],
];

describe('an OpenAPI document near 5 MiB', () => {
  it.each(forms)('is counted by its own bytes, whatever a body makes of them: %s', async (_title, textOf, write) => {
    const app = await startTestServer(createSpecRoutes(deps) as never);
    const register = async (bytes: number) => {
      const body = write(JSON.stringify({ name: 'shop', document: textOf(bytes) }));
      const headers = { authorization: 'Bearer ada', 'content-type': 'application/json' };
      const answer = await fetch(`${app.url}/v1/specs`, { method: 'POST', headers, body });
      return [answer.status, (await answer.json()) as object];
    };
    try {
      expect(await register(most - 1)).toEqual([200, { id: 'u-1', name: 'shop' }]);
      expect(await register(most)).toEqual([200, { id: 'u-1', name: 'shop' }]);
      const message = `document the document has ${most + 1} bytes; at most ${most} are taken`;
      expect(await register(most + 1)).toMatchObject([400, { error: 'Validation', message }]);
    } finally {
      await app.close();
    }
  });
});

describe('a body of megabytes', () => {
  it('lets others have the loop between two passes over it, and pays for its text while it is read', async () => {
    const body = JSON.stringify({ document: '"'.repeat(1_048_576) });
    const headers = { 'content-type': 'application/json', 'content-length': String(body.length) };
    const message = Object.assign(Readable.from([Buffer.from(body)]), { headers }) as unknown as IncomingMessage;
    const turns = { now: 0, isOver: false };
    const look = (): void => {
      turns.now += 1;
      if (!turns.isOver) setImmediate(look);
    };
    look();
    let [came, paid, bytes] = [0, 0, 0];
    message.once('end', () => {
      came = turns.now;
    });
    const reserve = async (cost: number): Promise<void> => {
      [bytes, paid] = [cost, turns.now];
    };
    const source = { message, onRead: () => undefined, ...endlessRoom, reserve };
    await readBody(source, { kind: 'json', maxBytes: body.length, schema: Type.Object({}), example: {} });
    turns.isOver = true;
    expect(bytes).toBe(jsonCost(body) + body.length);
    expect(paid).toBeGreaterThan(came);
    expect(turns.now - paid).toBeGreaterThanOrEqual(2);
  });
});
