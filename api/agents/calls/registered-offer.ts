import { AppError, hasReason } from '../../../lib/errors.ts';
import type { Tool } from '../../../lib/tools/tool.ts';
import type { ConversationDeps } from '../conversation/conversation-deps.ts';
import { underPresentContext } from '../conversation/context-return.ts';
import { patientlyFor } from '../conversation/patiently.ts';
import { repeatable } from './repeatable.ts';

/** How long a conversation waits for a gateway that is away, or cannot list: a rolling update of it takes less. */
const patienceMs = 60_000;

/**
 * Registered tools that the agent may call.
 * @throws AppError `unavailable` with the reason `GatewayUnavailable`: without its tools an agent would do something else;
 * `SecurityContextNotFound` where its context stays gone.
 */
export async function registeredTools(deps: ConversationDeps, signal: AbortSignal): Promise<readonly Tool[]> {
  const { clock, logger } = deps;
  return repeatable(deps, signal, async (until) => {
    for (;;) {
      try {
        return await patientlyFor({ clock, logger, signal: until }, patienceMs, () => offeredNow(deps, until));
      } catch (error) {
        if (!isSlow(error)) throw error;
      }
    }
  });
}

/** A gateway is there, and has more to do than it can: it is waited for as a model is, until the deadline. */
const isSlow = (error: unknown): boolean => error instanceof AppError && hasReason(error.cause, 'RequestTimeout');

/** A gateway that cannot read the context may know before this replica that it was deleted. */
async function offeredNow({ registered, caller, callerNow, clock, logger }: ConversationDeps, signal: AbortSignal) {
  try {
    return await registered.offered(caller, signal);
  } catch (error) {
    if (error instanceof AppError && hasReason(error.cause, 'ContextUnread'))
      await underPresentContext({ clock, logger, signal }, () => callerNow(signal, 'anew'));
    throw error;
  }
}
