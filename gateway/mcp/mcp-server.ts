import type { CallToolResult, Server } from '@modelcontextprotocol/server';
import {
  type CallSender,
  callIn,
  type NamedTenant,
  type ProofPool,
  type ProveSession,
  requireNamedTenant,
  type SealedRequest,
  type SealSession,
} from '../../lib/envelope/index.ts';
import { answeredError, refusalError } from '../../lib/envelope/rpc-error.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import type { JsonPart } from '../../lib/http/json-parts.ts';
import type { RateLimit } from '../../lib/http/rate-limit.ts';
import { newUuid } from '../../lib/ids.ts';
import { isJsonObject } from '../../lib/json-object.ts';
import manifest from '../../package.json' with { type: 'json' };
import type { Invoke } from '../lane/invoke.ts';
import { RefusedCall } from '../tools/refused-call.ts';
import type { GatewayAnswer, JsonAnswer } from '../tools/tool-source.ts';
import { type ListDeps, listTools } from './list-tools.ts';

interface McpServerDeps extends ListDeps {
  readonly invoke: Invoke;
  readonly proveSession: ProveSession;
  readonly rateLimit: RateLimit;
  readonly proofs: ProofPool;
}

/** A request of the protocol, of the right form; nothing of it is proved yet. */
interface McpRequest {
  readonly sealed: SealedRequest;
  /** Those that the protocol reads: `accept`, `content-type` and `mcp-*`. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Tenant that a header names (`namedTenant`). */
  readonly named: NamedTenant;
  readonly sender: CallSender;
}

/** The gateway as a server of the Model Context Protocol over streamable HTTP. It keeps nothing between requests. */
export interface McpServer {
  /**
   * The answer of the protocol; `undefined` for a method that this server does not have.
   * @throws EnvelopeError for a request that is not proved, and whatever else has a status of its own.
   */
  serve(request: McpRequest): Promise<McpHttpAnswer | undefined>;
}

/** The library would copy all of an answer several times: it writes marks, in the place of which the answer is sent. */
interface LargeAnswer extends JsonAnswer {
  readonly mark: string;
}

export interface McpHttpAnswer {
  readonly status: number;
  readonly mediaType: string;
  /** One JSON-RPC answer, as JSON or as one event; empty where there is nothing to say. */
  readonly text: string;
  /** The answer of a tool whose places in the text have the name `mark`. */
  readonly large?: LargeAnswer;
}

const methods: ReadonlySet<string> = new Set(['initialize', 'ping', 'server/discover', 'tools/list', 'tools/call']);
const isServed = (method: string): boolean => methods.has(method) || method.startsWith('notifications/');

export function createMcpServer(deps: McpServerDeps): McpServer {
  return {
    async serve(request) {
      const { sealed, named, sender } = request;
      const { method } = sealed;
      if (method === 'tools/call') return answer(request, callHandlers(deps, request));
      const session = await deps.proofs.run(sealed.token, sender, () => deps.proveSession(sealed));
      await deps.rateLimit.take(session.tenant);
      requireNamedTenant(session, named, ...sealed.named);
      return isServed(method) ? answer(request, listHandlers(deps, session)) : undefined;
    },
  };
}

/** The part of a request that is ours. */
interface Handlers {
  readonly list?: (cursor: string | undefined) => ReturnType<typeof listTools>;
  readonly call?: () => Promise<CallToolResult>;
  /** The answer of the call where it is large. The one who takes it gives its memory back; without a taker it is given back. */
  readonly take?: (isTaken: boolean) => LargeAnswer | undefined;
  /** An error that the whole request is answered with. */
  readonly fault: () => unknown;
}

const listHandlers = (deps: McpServerDeps, session: SealSession): Handlers => {
  let fault: unknown;
  return {
    async list(cursor) {
      try {
        return await listTools(deps, session, cursor);
      } catch (error) {
        if (!(error instanceof HttpError)) fault = error;
        throw error instanceof HttpError ? invalidParams(error.message) : error;
      }
    },
    fault: () => fault,
  };
};

const invalidParams = (message: string): Error => Object.assign(new Error(message), { code: -32_602 });

function callHandlers({ invoke }: McpServerDeps, { sealed, named, sender }: McpRequest): Handlers {
  let fault: unknown;
  let large: LargeAnswer | undefined;
  let isOver = false;
  return {
    take(isTaken) {
      isOver = true;
      if (!isTaken) large?.held[Symbol.dispose]();
      return large;
    },
    async call() {
      try {
        // The signed call runs, not the one that the library read from the body.
        const result = await invoke(callIn(sealed), sender, { via: 'mcp', named });
        if (result.json === undefined) return resultOf(result);
        if (isOver) result.held[Symbol.dispose]();
        large = { ...result, mark: newUuid() };
        return markedResult(large.mark);
      } catch (error) {
        const refused = protocolError(error, sealed);
        if (refused === undefined) fault = error;
        throw refused ?? error;
      }
    },
    fault: () => fault,
  };
}

const markedResult = (mark: string): CallToolResult => ({
  content: [{ type: 'text', text: mark }],
  structuredContent: { [mark]: mark },
  isError: false,
});

/** The text in parts, with the answer in the places of its marks. */
export function partsOf({ text, large }: McpHttpAnswer): readonly JsonPart[] {
  if (large === undefined) return [text];
  const { json, mark } = large;
  const [string, value] = [`"${mark}"`, `{"${mark}":"${mark}"}`];
  return text.split(new RegExp(`(${value}|${string})`)).map((part): JsonPart => {
    if (part === value) return { json, as: 'value' };
    return part === string ? { json, as: 'string' } : part;
  });
}

function resultOf({ content, structured, isError }: Exclude<GatewayAnswer, JsonAnswer>): CallToolResult {
  const result = { content: [{ type: 'text' as const, text: content }], isError };
  return isJsonObject(structured) ? { ...result, structuredContent: { ...structured } } : result;
}

/** A refusal of the tool's policy or arguments is an error of the protocol; its client is right and proved. */
function protocolError(error: unknown, { id }: SealedRequest): Error | undefined {
  const form = error instanceof RefusedCall ? refusalError(error.refusal, id) : answeredError(error, id);
  return form === undefined ? undefined : rpcErrorOf(form);
}

/** In the form in which the library sends errors. */
function rpcErrorOf({ options }: HttpError): Error {
  const body = options.body?.['error'];
  const { code, message, data } = isJsonObject(body) ? body : {};
  return Object.assign(new Error(String(message)), { code, ...(data === null ? {} : { data }) });
}

/** Loaded with the first request: it takes 30 MB, which a gateway without such clients does without. */
const library = () => import('@modelcontextprotocol/server');

async function answer({ sealed, headers, sender: { signal } }: McpRequest, handlers: Handlers): Promise<McpHttpAnswer> {
  using left = new DisposableStack();
  left.defer(() => handlers.take?.(false));
  const { createMcpHandler, Server: McpProtocol } = await library();
  const handler = createMcpHandler(() => serverOf(handlers, McpProtocol));
  const init = { method: 'POST', headers: headers.map(([...pair]) => pair), signal };
  const response = await handler.fetch(new Request('http://gateway/v1/mcp', init), { parsedBody: sealed.payload });
  // An answer as an event begins before the handler has run, and holds nothing before the result.
  const text = await response.text();
  const fault = handlers.fault();
  if (fault !== undefined) throw fault;
  left.move();
  const large = handlers.take?.(true);
  const mediaType = response.headers.get('content-type') ?? 'application/json';
  return { status: response.status, mediaType, text, ...(large && { large }) };
}

function serverOf({ list, call }: Handlers, McpProtocol: typeof Server): Server {
  const server = new McpProtocol(
    { name: manifest.name, version: manifest.version },
    { capabilities: { tools: {} }, instructions },
  );
  server.setRequestHandler('tools/list', ({ params }) => list?.(params?.cursor) ?? { tools: [] });
  if (call !== undefined) server.setRequestHandler('tools/call', call);
  return server;
}

const instructions = 'Tools of one session. Each request is signed by the key of the session (docs/gateway.md).';
