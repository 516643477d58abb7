import { messageOf } from '../../lib/errors.ts';
import { isJsonObject } from '../../lib/json-object.ts';
import type { MessageLine } from './message-lines.ts';
import type { McpMessage, McpReply, SendMessage } from './send-signed.ts';

interface BridgeDeps {
  readonly send: SendMessage;
  readonly lines: AsyncIterable<MessageLine>;
  /** One message of the protocol to the client. */
  readonly write: (line: string) => void;
  /** For people, beside the protocol. */
  readonly note: (line: string) => void;
  /** Gives up what is under way. */
  readonly interrupted: AbortSignal;
}

/** Messages under way at once; more wait in the pipe of the client. */
const atOnce = 32;

/**
 * Passes messages of an MCP client on, and the answers back, in whatever order they come. Each request gets one answer, an
 * error where the gateway gives none, unless the client cancels it. Resolves after the last line when all are answered.
 */
export async function bridgeMcp(deps: BridgeDeps): Promise<void> {
  const bridge = new Bridge(deps);
  for await (const line of deps.lines) {
    bridge.take(line);
    while (bridge.underWay.size >= atOnce) await Promise.race(bridge.underWay);
  }
  await Promise.all(bridge.underWay);
}

class Bridge {
  readonly underWay = new Set<Promise<void>>();
  readonly #deps: BridgeDeps;
  readonly #stops = new Map<unknown, AbortController>();
  /** The revision that `initialize` has agreed on. */
  #version: string | undefined;

  constructor(deps: BridgeDeps) {
    this.#deps = deps;
  }

  take(line: MessageLine): void {
    const message = line.kind === 'line' ? parsed(line.text) : undefined;
    if (line.kind === 'too_long') this.#answerError(null, -32_600, 'the message is longer than the gateway takes');
    else if (message === undefined) this.#answerError(null, -32_700, 'the line is no JSON object');
    else if (message['method'] === 'notifications/cancelled') this.#cancel(message);
    else this.#begin(message);
  }

  /** The gateway keeps no connection: it gives a call up when its request ends. */
  #cancel({ params }: McpMessage): void {
    const id = isJsonObject(params) ? params['requestId'] : undefined;
    this.#stops.get(id)?.abort(cancelled);
  }

  #begin(message: McpMessage): void {
    const work = this.#pass(message).finally(() => this.underWay.delete(work));
    this.underWay.add(work);
  }

  async #pass(message: McpMessage): Promise<void> {
    const { id } = message;
    const stop = new AbortController();
    const isRequest = id !== undefined && id !== null;
    if (isRequest) this.#stops.set(id, stop);
    try {
      const signal = AbortSignal.any([stop.signal, this.#deps.interrupted]);
      this.#answer(message, await this.#deps.send(message, this.#version, signal));
    } catch (error) {
      if (stop.signal.aborted || this.#deps.interrupted.aborted) return;
      const problem = `the tool gateway did not answer, and what it did is not known: ${reasonOf(error)}`;
      if (isRequest) this.#answerError(id, -32_603, problem);
      else this.#deps.note(problem);
    } finally {
      if (this.#stops.get(id) === stop) this.#stops.delete(id);
    }
  }

  #answer({ id, method }: McpMessage, { status, message }: McpReply): void {
    const error = message?.['error'];
    if (id === undefined || id === null) {
      if (error !== undefined)
        this.#deps.note(`the tool gateway answered ${String(method)} with ${status}: ${said(error)}`);
      return;
    }
    if (method === 'initialize') this.#version = versionIn(message);
    if (message?.['jsonrpc'] !== '2.0') return this.#answerError(id, -32_603, `the tool gateway answered ${status}`);
    // A refusal of an unproved request does not name it.
    this.#deps.write(JSON.stringify({ ...message, id }));
  }

  #answerError(id: unknown, code: number, message: string): void {
    this.#deps.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }));
  }
}

const cancelled = 'the client cancelled the request';

function parsed(text: string): McpMessage | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function versionIn(message: McpMessage | undefined): string | undefined {
  const result = message?.['result'];
  const version = isJsonObject(result) ? result['protocolVersion'] : undefined;
  return typeof version === 'string' ? version : undefined;
}

const said = (error: unknown): string => (isJsonObject(error) ? String(error['message']) : 'an error');

/** `fetch` says in the cause why a connection failed. */
const reasonOf = (error: unknown): string =>
  error instanceof Error && error.cause instanceof Error ? messageOf(error.cause) : messageOf(error);
