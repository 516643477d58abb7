import type { KeyObject } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import { startDeadline } from '../../lib/deadline.ts';
import { signPayload } from '../../lib/envelope/sign-envelope.ts';
import { newId } from '../../lib/ids.ts';
import { isJsonObject } from '../../lib/json-object.ts';
import type { SessionFile } from './session-file.ts';

/** A message of the protocol. */
export type McpMessage = Readonly<Record<string, unknown>>;

/** The answer of the gateway: one JSON-RPC message, or nothing to a notification. */
export interface McpReply {
  readonly status: number;
  readonly message: McpMessage | undefined;
}

/** Signs one message and sends it. Rejects where no answer comes; what a call has done is not known then. */
export type SendMessage = (message: McpMessage, version: string | undefined, stop: AbortSignal) => Promise<McpReply>;

interface SendDeps {
  readonly clock: Clock;
  readonly key: KeyObject;
  readonly session: Pick<SessionFile, 'execution_id' | 'security_token'>;
  readonly url: string;
}

/** The gateway ends a call after ten minutes. */
const timeoutMs = 620_000;
/** Bytes of an answer; a page of tools has about one MiB. */
const answerBytes = 16_777_216;

export function sendSigned(deps: SendDeps): SendMessage {
  return async (message, version, stop) => {
    const payload = withNonce(message);
    using deadline = startDeadline(deps.clock, timeoutMs, stop);
    const response = await fetch(deps.url, {
      method: 'POST',
      headers: { ...sealOf(deps, payload), ...protocolHeaders(payload, version) },
      body: JSON.stringify(payload),
      redirect: 'error',
      signal: deadline.signal,
    });
    return { status: response.status, message: messageIn(await textOf(response)) };
  };
}

/** Two equal calls of one second would be one call to the gateway, so that each gets a value of its own. */
function withNonce(message: McpMessage): McpMessage {
  if (message['method'] !== 'tools/call') return message;
  const { params } = message;
  const given = isJsonObject(params) ? params : {};
  const meta = isJsonObject(given['_meta']) ? given['_meta'] : {};
  return { ...message, params: { ...given, _meta: { ...meta, 'windlass.dev/nonce': newId() } } };
}

function sealOf({ clock, key, session }: SendDeps, payload: McpMessage): Record<string, string> {
  const token = session.security_token;
  const { timestamp, signature } = signPayload(key, { payload, token, now: clock.now() });
  return {
    authorization: `Bearer ${token}`,
    'seal-execution-id': session.execution_id,
    'seal-timestamp': String(timestamp),
    'seal-signature': signature,
  };
}

const versionKey = 'io.modelcontextprotocol/protocolVersion';

/** Headers that streamable HTTP wants and standard input has no place for; newer revisions name the version in each message. */
function protocolHeaders(message: McpMessage, negotiated: string | undefined): Record<string, string> {
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  const { method, params } = message;
  const { _meta: meta, name } = isJsonObject(params) ? params : {};
  const own = isJsonObject(meta) ? meta[versionKey] : undefined;
  if (typeof own !== 'string')
    return negotiated === undefined ? headers : { ...headers, 'mcp-protocol-version': headerText(negotiated) };
  return {
    ...headers,
    'mcp-protocol-version': headerText(own),
    'mcp-method': headerText(String(method)),
    ...(typeof name === 'string' ? { 'mcp-name': headerText(name) } : {}),
  };
}

/** Text that a header cannot hold as it is comes as base64 in the marks of the protocol. */
const headerText = (text: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?')
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`;

async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > answerBytes) throw new Error(`the answer has more than ${answerBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** An answer is JSON, or one event that holds it. */
function messageIn(text: string): McpMessage | undefined {
  const event = /^data: ?(.*)$/m.exec(text)?.[1];
  try {
    const value: unknown = JSON.parse(event ?? text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
