import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { createOpenApiReader, type OpenApiReader, readerLimits } from './manifest-reader.ts';

const document = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'shop', version: '1' },
  servers: [{ url: 'https://shop.example' }],
  paths: { '/items': { get: { operationId: 'find', responses: { 200: { description: 'ok' } } } } },
});

let reader: OpenApiReader;
beforeEach(() => {
  const workerUrl = new URL('./manifest-worker.ts', import.meta.url);
  reader = createOpenApiReader({ clock: systemClock, workerUrl });
});
afterEach(() => reader.close());

describe('the texts of stored documents', () => {
  it('are read in their turn, no more at once than there are threads, the tenants in rotation', async () => {
    const tenants = ['acme', 'acme', 'acme', 'globex', 'globex', 'umbra'];
    const texts = tenants.map(() => Promise.withResolvers<string>());
    /** Indexes of the readings, in the order of their turns. */
    const begun: number[] = [];
    const readings = tenants.map(async (tenant, at) => {
      const text = (): Promise<string> => {
        begun.push(at);
        return texts[at]?.promise ?? Promise.reject(new Error('no text'));
      };
      const { index } = await reader.readOpenApi(text, tenant);
      return index?.operations.size;
    });
    // Whatever could begin beside the first has begun by then.
    await setImmediate();
    const sides = [begun.length];
    // Which of two threads is faster is the machine's affair: one reading ends at a time, the eldest first.
    for (let ended = 0; ended < tenants.length; ended += 1) {
      const eldest = begun[ended] ?? 0;
      texts[eldest]?.resolve(document);
      expect(await readings[eldest]).toBe(1);
      await setImmediate();
      sides.push(begun.length - ended - 1);
    }
    expect(begun.map((at) => tenants[at])).toEqual(['acme', 'globex', 'acme', 'globex', 'umbra', 'acme']);
    expect(Math.max(...sides)).toBe(readerLimits.threads);
  });

  it('that cannot be read leave their turn to others, with the error of the reading', async () => {
    const gone = Array.from({ length: readerLimits.threads + 1 }, () =>
      reader.readOpenApi(() => Promise.reject(new Error('gone')), 'acme'),
    );
    for (const one of gone) await expect(one).rejects.toThrow('gone');
    expect((await reader.readOpenApi(document, 'acme')).problems).toEqual([]);
  });
});
