import {
  type CallSender,
  type Envelope,
  EnvelopeError,
  type NoteRefusal,
  namedTenant,
  readEnvelope,
  type Vouch,
} from '../../../lib/envelope/index.ts';
import { answeredError, callError, refusalError } from '../../../lib/envelope/rpc-error.ts';
import type { Contract } from '../../../lib/http/contract.ts';
import { HttpError } from '../../../lib/http/http-error.ts';
import { bytesIn } from '../../../lib/http/json-parts.ts';
import { defineRoute, json, type Reply, type Route } from '../../../lib/http/route.ts';
import type { Operator } from '../../identity/operator.ts';
import type { Invoke } from '../../lane/invoke.ts';
import { RefusedCall } from '../../tools/refused-call.ts';
import type { JsonAnswer } from '../../tools/tool-source.ts';
import { refuseWebPage } from '../web-pages.ts';
import { invokeTool, invokeToolAlias } from './contract.ts';

export const contracts: readonly Contract[] = [invokeTool, invokeToolAlias];

interface InvokeRoutesDeps {
  readonly noteRefusal: NoteRefusal;
  readonly invoke: Invoke;
  readonly vouch: Vouch;
  /** Whether token and signature may be absent (spec 3 §5.3). */
  readonly isBypass: boolean;
}

interface Call {
  readonly rawHeaders: Parameters<typeof namedTenant>[0];
  readonly body: Buffer;
  readonly remoteAddress: string;
  readonly signal: AbortSignal;
  ofTenant(tenant: string): void;
}

/** The invocation lane (spec 3 §4.2, §5.2, §7). The judge of tool calls has no part in it. */
export function createInvokeRoutes(deps: InvokeRoutesDeps): Route<Operator>[] {
  const handle = async (call: Call): Promise<Reply> => {
    const { rawHeaders, body, remoteAddress: address, signal } = call;
    const sender = { address, signal };
    // With a signature, a page can send nothing that its key has not signed.
    if (deps.isBypass) refuseWebPage(rawHeaders);
    await vouchFor(deps, body, sender);
    const envelope = read(body, deps.isBypass);
    call.ofTenant(envelope.session.tenant);
    try {
      const answer = await deps.invoke(envelope, sender, { named: namedTenant(rawHeaders) });
      if (answer.json !== undefined) return partsOf(answer, envelope.id);
      const { content, structured, isError } = answer;
      const more = structured === undefined ? {} : { structuredContent: structured };
      const result = { content: [{ type: 'text', text: content }], ...more, isError };
      return json({ jsonrpc: '2.0', id: envelope.id, result });
    } catch (error) {
      throw answerTo(await deps.noteRefusal(error, envelope.tool), envelope.id);
    }
  };
  return [
    defineRoute<typeof invokeTool, Operator>(invokeTool, handle),
    defineRoute<typeof invokeToolAlias, Operator>(invokeToolAlias, handle),
  ];
}

/** The answer that `json` gives for values, of which no second copy is made. */
function partsOf({ json: text, held }: JsonAnswer, id: Envelope['id']): Reply {
  const parts = [
    `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":`,
    { json: text, as: 'string' },
    '}],"structuredContent":',
    { json: text, as: 'value' },
    ',"isError":false}}',
  ] as const;
  return { kind: 'parts', parts, mediaType: 'application/json', bytes: bytesIn(text), held };
}

/** A large body is not read for a stranger. */
async function vouchFor(deps: InvokeRoutesDeps, body: Buffer, sender: CallSender): Promise<void> {
  const { vouch, noteRefusal } = deps;
  try {
    await vouch(body, sender);
  } catch (error) {
    throw callError(await noteRefusal(error, ''), null);
  }
}

function read(body: Buffer, isBypass: boolean): Envelope {
  try {
    return readEnvelope(body, isBypass);
  } catch (error) {
    throw callError(error, null);
  }
}

function answerTo(error: unknown, id: Envelope['id']): unknown {
  if (error instanceof RefusedCall) return refusalError(error.refusal, id);
  if (error instanceof HttpError && error.options.body !== undefined) return error;
  return (error instanceof EnvelopeError ? undefined : answeredError(error, id)) ?? callError(error, id);
}
