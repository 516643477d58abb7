import type { EventBus } from '../../../lib/bus/index.ts';
import { AppError } from '../../../lib/errors.ts';
import { isJsonObject } from '../../../lib/json-object.ts';
import type { ConversationDeps } from '../conversation/conversation-deps.ts';
import {
  createSignedCalls,
  type SignedCall,
  type SignedCalls,
  type SignedRoom,
  signedAddress,
} from './signed-calls.ts';

/** Signed calls while their conversation is driven here. */
interface OpenSignedCalls extends SignedCalls {
  /** Takes no more. Resolves when nothing of them runs here; the channel has to be closed before. */
  close(): Promise<void>;
}

/** How long a call may take to be written down when the driver leaves. */
const graceMs = 3_000;

/** Takes signed calls of every replica until it is closed, or `leave` aborts. */
export function openSignedCalls(
  bus: Pick<EventBus, 'serve'>,
  conversation: ConversationDeps,
  { leave, room }: { readonly leave: AbortSignal; readonly room: SignedRoom },
): OpenSignedCalls {
  const closed = new AbortController();
  const ends = [leave, conversation.log.overtaken, closed.signal];
  const signed = createSignedCalls(conversation, room, AbortSignal.any(ends));
  const address = signedAddress(conversation.caller.executionId ?? '');
  const responder = bus.serve(address, async ({ body }) => String(await signed.take(readCall(body))));
  return {
    ...signed,
    async close() {
      closed.abort();
      void responder.close(graceMs);
      await signed.ended();
    },
  };
}

/** Our own processes alone reach the bus. @throws AppError `invalid`. */
function readCall(body: Uint8Array): SignedCall {
  const call: unknown = JSON.parse(Buffer.from(body).toString());
  const { call_id, tool, arguments: args } = isJsonObject(call) ? call : {};
  if (typeof call_id === 'string' && typeof tool === 'string' && isJsonObject(args))
    return { call_id, tool, arguments: args };
  throw new AppError('invalid', 'the signed call is not of its form');
}
