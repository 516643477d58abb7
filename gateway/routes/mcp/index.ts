import {
  type CallSender,
  callIn,
  EnvelopeError,
  type NoteRefusal,
  namedTenant,
  readSealedRequest,
  type SealedRequest,
  type Vouch,
} from '../../../lib/envelope/index.ts';
import { callError } from '../../../lib/envelope/rpc-error.ts';
import { HttpError } from '../../../lib/http/http-error.ts';
import { bytesIn } from '../../../lib/http/json-parts.ts';
import { defineRoute, json, type Reply, type Route } from '../../../lib/http/route.ts';
import { isJsonObject } from '../../../lib/json-object.ts';
import type { Operator } from '../../identity/operator.ts';
import { type McpHttpAnswer, type McpServer, partsOf } from '../../mcp/mcp-server.ts';
import { refuseWebPage } from '../web-pages.ts';
import { callMcp } from './contract.ts';

interface McpRoutesDeps {
  readonly noteRefusal: NoteRefusal;
  readonly mcp: McpServer;
  readonly vouch: Vouch;
  /** Whether whatever vouches for a request may be absent (spec 3 §5.3). */
  readonly isBypass: boolean;
}

type Headers = readonly (readonly [name: string, value: string])[];

interface Post {
  readonly rawHeaders: Headers;
  readonly body: Buffer;
  readonly remoteAddress: string;
  readonly signal: AbortSignal;
  ofTenant(tenant: string): void;
}

/** The Model Context Protocol (ADR 0081). */
export function createMcpRoutes(deps: McpRoutesDeps): Route<Operator>[] {
  const { mcp, noteRefusal } = deps;
  const handle = async (post: Post): Promise<Reply> => {
    const { rawHeaders, remoteAddress: address, signal } = post;
    const sender = { address, signal };
    const sealed = await read(deps, post, sender);
    post.ofTenant(sealed.session.tenant);
    try {
      const headers = rawHeaders.filter(([name]) => isOfProtocol(name));
      const answer = await mcp.serve({ sealed, headers, named: namedTenant(rawHeaders), sender });
      return answer === undefined ? unknownMethod(sealed) : replyOf(answer);
    } catch (cause) {
      const error = await noteRefusal(cause, toolOf(sealed));
      throw error instanceof HttpError && error.options.body !== undefined ? error : callError(error, sealed.id);
    }
  };
  return [defineRoute<typeof callMcp, Operator>(callMcp, handle)];
}

const isOfProtocol = (name: string): boolean => name === 'accept' || name === 'content-type' || name.startsWith('mcp-');

async function read(
  deps: McpRoutesDeps,
  { rawHeaders: headers, body }: Post,
  sender: CallSender,
): Promise<SealedRequest> {
  const { isBypass, noteRefusal, vouch } = deps;
  const given = new Map(headers);
  refuseWebPage(headers);
  try {
    const seal = {
      token: bearerOf(given.get('authorization')),
      signature: given.get('seal-signature'),
      timestamp: given.get('seal-timestamp') ?? (isBypass ? 0 : undefined),
      execution_id: given.get('seal-execution-id') ?? (isBypass ? 'mcp' : undefined),
    };
    if (!isBypass) requireSeal(given);
    await vouch(body, sender, { executionId: seal.execution_id, token: seal.token });
    const sealed = readSealedRequest(body, seal, isBypass);
    // A call has a form of its own.
    if (sealed.method === 'tools/call') callIn(sealed);
    return sealed;
  } catch (error) {
    throw callError(await noteRefusal(error, ''), null);
  }
}

const required = ['authorization', 'seal-execution-id', 'seal-timestamp', 'seal-signature'];

function requireSeal(given: ReadonlyMap<string, string>): void {
  const missing = required.find((name) => !given.has(name));
  if (missing !== undefined)
    throw new EnvelopeError('token_invalid', `the header ${missing} is missing; sign each request`);
  if (bearerOf(given.get('authorization')) !== '') return;
  throw new EnvelopeError('token_invalid', 'the header authorization must be Bearer and the token of the session');
}

const bearerOf = (authorization = ''): string => /^bearer +(\S+)$/i.exec(authorization.trim())?.[1] ?? '';

function toolOf({ payload }: SealedRequest): string {
  const { params } = payload;
  const name = isJsonObject(params) ? params['name'] : undefined;
  return typeof name === 'string' ? name : '';
}

const unknownMethod = ({ id, method }: SealedRequest): Reply =>
  json({ jsonrpc: '2.0', id, error: { code: -32_601, message: `Method not found: ${method.slice(0, 64)}` } });

function replyOf(answer: McpHttpAnswer): Reply {
  const { status, mediaType, text, large } = answer;
  if (large !== undefined && status !== 200) large.held[Symbol.dispose]();
  else if (large !== undefined) {
    const { json: bytes, held } = large;
    return { kind: 'parts', parts: partsOf(answer), mediaType, bytes: bytesIn(bytes), held };
  }
  if (status === 202) return { kind: 'accepted' };
  if (status === 200) return { kind: 'text', text, mediaType };
  const body: unknown = JSON.parse(text);
  if (!isJsonObject(body)) throw new TypeError('the answer of the library is no JSON object');
  throw new HttpError({ code: status >= 500 ? 'internal' : 'invalid', status, body });
}
