import { describe, expect, it } from 'vitest';
import { bridgeMcp } from './mcp-bridge.ts';
import type { MessageLine } from './message-lines.ts';
import type { McpMessage, McpReply, SendMessage } from './send-signed.ts';

const tooLong: MessageLine = { kind: 'too_long' };

/** A client that writes lines and reads answers, before a gateway that the test plays. */
async function bridged(
  lines: readonly (object | string | MessageLine)[],
  send: SendMessage,
  stop = new AbortController(),
) {
  const [written, notes]: [McpMessage[], string[]] = [[], []];
  const input = (async function* (): AsyncGenerator<MessageLine> {
    for (const line of lines) {
      if (line === tooLong) yield tooLong;
      else yield { kind: 'line', text: typeof line === 'string' ? line : JSON.stringify(line) };
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  await bridgeMcp({
    send,
    lines: input,
    write: (line) => void written.push(JSON.parse(line) as McpMessage),
    note: (line) => void notes.push(line),
    interrupted: stop.signal,
  });
  return { written, notes };
}

const request = (id: number | string, method = 'tools/list') => ({ jsonrpc: '2.0', id, method });
const answerTo = ({ id }: McpMessage, result: object = {}): McpReply => ({
  status: 200,
  message: { jsonrpc: '2.0', id, result },
});

describe('the bridge of MCP clients', () => {
  it('answers each request, in whatever order the gateway does, and nothing to a notification', async () => {
    const first = Promise.withResolvers<void>();
    const { written } = await bridged(
      [request(1), request('b'), { jsonrpc: '2.0', method: 'notifications/x' }],
      async (message) => {
        if (message['id'] === 1) await first.promise;
        if (message['method'] === 'notifications/x') {
          first.resolve();
          return { status: 202, message: undefined };
        }
        return answerTo(message);
      },
    );
    expect(written.map(({ id }) => id)).toEqual(['b', 1]);
  });

  it('names the revision that initialize has agreed on in later messages', async () => {
    const versions: unknown[] = [];
    await bridged([request(1, 'initialize'), request(2)], async (message, version) => {
      versions.push(version);
      return answerTo(message, { protocolVersion: '2025-11-25' });
    });
    expect(versions).toEqual([undefined, '2025-11-25']);
  });

  it('gives a refusal that names no request the id of the request', async () => {
    const error = { code: -32_000, message: 'the session is not active' };
    const { written } = await bridged([request(7)], async () => ({
      status: 403,
      message: { jsonrpc: '2.0', id: null, error },
    }));
    expect(written).toEqual([{ jsonrpc: '2.0', id: 7, error }]);
  });

  it('answers with an error where the gateway does not, and tells people of a notification', async () => {
    const failing = async (): Promise<never> => {
      throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
    };
    const { written, notes } = await bridged([request(1), { jsonrpc: '2.0', method: 'notifications/x' }], failing);
    const message = 'the tool gateway did not answer, and what it did is not known: connect ECONNREFUSED';
    expect(written).toEqual([{ jsonrpc: '2.0', id: 1, error: { code: -32_603, message } }]);
    expect(notes).toEqual([message]);
    const html = await bridged([request(2)], async () => ({ status: 502, message: undefined }));
    expect(html.written).toMatchObject([{ id: 2, error: { message: 'the tool gateway answered 502' } }]);
  });

  it('answers lines that are no message, and continues', async () => {
    const { written } = await bridged(['no JSON', '[]', tooLong, request(1)], async (message) => answerTo(message));
    expect(written.map(({ id, error }) => [id, (error as { code: number } | undefined)?.code])).toEqual([
      [null, -32_700],
      [null, -32_700],
      [null, -32_600],
      [1, undefined],
    ]);
  });

  it('gives up a call that the client cancels, and says nothing more of it', async () => {
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    const { written } = await bridged([request(1), request(2), cancel], (message, _version, stop) =>
      message['id'] === 2
        ? Promise.resolve(answerTo(message))
        : new Promise((_, reject) => stop.addEventListener('abort', () => reject(new Error('aborted')))),
    );
    expect(written.map(({ id }) => id)).toEqual([2]);
  });

  it('has 32 messages under way and reads no further', async () => {
    let underWay = 0;
    let most = 0;
    const all = Array.from({ length: 100 }, (_, id) => request(id));
    const { written } = await bridged(all, async (message) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise((resolve) => setTimeout(resolve, 20));
      underWay -= 1;
      return answerTo(message);
    });
    expect([most, written.length]).toEqual([32, 100]);
  });
});
