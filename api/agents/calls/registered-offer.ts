import type { Tool } from '../../../lib/tools/tool.ts';
import type { ConversationDeps } from '../conversation/conversation-deps.ts';
import { patientlyFor } from '../conversation/patiently.ts';
import { repeatable } from './repeatable.ts';

/** How long a conversation waits for a gateway that is away: a rolling update of it takes less. */
const patienceMs = 60_000;

/**
 * Registered tools that the agent may call.
 * @throws AppError `unavailable` with the reason `GatewayUnavailable`: without its tools an agent would do something else.
 */
export async function registeredTools(deps: ConversationDeps, signal: AbortSignal): Promise<readonly Tool[]> {
  const { registered, caller, clock, logger } = deps;
  return repeatable(deps, signal, (until) =>
    patientlyFor({ clock, logger, signal: until }, patienceMs, () => registered.offered(caller, until)),
  );
}
