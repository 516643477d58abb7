import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
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
    const begun: string[] = [];
    const { promise: isOpen, resolve: open } = Promise.withResolvers<void>();
    const textOf = (tenant: string) => async () => {
      begun.push(tenant);
      await isOpen;
      return document;
    };
    const readings = ['acme', 'acme', 'acme', 'globex', 'globex', 'umbra'].map(async (tenant) => {
      const { index } = await reader.readOpenApi(textOf(tenant), tenant);
      return index?.operations.size;
    });
    await vi.waitFor(() => expect(begun).toHaveLength(readerLimits.threads));
    // Whatever could begin beside them has begun by then.
    await setImmediate();
    expect(begun).toEqual(['acme', 'globex']);
    open();
    expect(await Promise.all(readings)).toEqual([1, 1, 1, 1, 1, 1]);
    // The turn of a third tenant comes before the second one of any.
    expect(begun.indexOf('umbra')).toBeLessThan(4);
  });

  it('that cannot be read leave their turn to others, with the error of the reading', async () => {
    const gone = Array.from({ length: readerLimits.threads + 1 }, () =>
      reader.readOpenApi(() => Promise.reject(new Error('gone')), 'acme'),
    );
    for (const one of gone) await expect(one).rejects.toThrow('gone');
    expect((await reader.readOpenApi(document, 'acme')).problems).toEqual([]);
  });
});
