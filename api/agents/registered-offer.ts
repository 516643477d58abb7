import { startDeadline } from '../../lib/deadline.ts';
import type { Tool } from '../../lib/tools/tool.ts';
import type { ConversationDeps } from './conversation-deps.ts';
import { patiently } from './patiently.ts';

/** How long a conversation waits for a gateway that is away: a rolling update of it takes less. */
const patienceMs = 60_000;

/**
 * Registered tools that the agent may call.
 * @throws AppError `unavailable` with the reason `GatewayUnavailable`: without its tools an agent would do something else.
 */
export async function registeredTools(deps: ConversationDeps, signal: AbortSignal): Promise<readonly Tool[]> {
  const { registered, caller, clock, logger } = deps;
  using patience = startDeadline(clock, patienceMs, signal);
  let last: unknown;
  const offered = (): Promise<readonly Tool[]> =>
    registered.offered(caller, signal).catch((error: unknown) => {
      last = error;
      throw error;
    });
  try {
    return await patiently({ clock, logger, signal: patience.signal }, offered);
  } catch (error) {
    signal.throwIfAborted();
    throw patience.signal.aborted ? (last ?? error) : error;
  }
}
