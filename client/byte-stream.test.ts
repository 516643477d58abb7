import { describe, expect, it } from 'vitest';
import { loopback } from '../test/builders/loopback.ts';
import { WindlassConnectionError } from './api-error.ts';
import { byteStream } from './byte-stream.ts';

describe('an answer that is read as it comes', () => {
  it('gives bytes as they were sent', async () => {
    await using server = await loopback((_, response) => response.end(Buffer.from([0, 255, 10])));
    const parts: Uint8Array[] = [];
    for await (const part of byteStream(await fetch(server.url), {})) parts.push(part);
    expect(Buffer.concat(parts)).toEqual(Buffer.from([0, 255, 10]));
  });

  it('gives text, with characters that two pieces share', async () => {
    const text = 'é🌊';
    await using server = await loopback((_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
      const bytes = Buffer.from(text);
      response.write(bytes.subarray(0, 3), () => response.end(bytes.subarray(3)));
    });
    const stream = byteStream(await fetch(server.url), {});
    expect(stream.mediaType).toBe('text/plain; charset=utf-8');
    expect(await stream.text()).toBe(text);
  });

  it('throws when the connection is lost on the way, so that a part is never taken for all', async () => {
    await using server = await loopback((_, response) => {
      response.write('half', () => response.destroy());
    });
    const stream = byteStream(await fetch(`${server.url}/v1/logs?token=x`), {});
    const error = await stream.text().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(WindlassConnectionError);
    expect(error).toMatchObject({ message: 'the connection was lost while reading /v1/logs' });
  });
});
