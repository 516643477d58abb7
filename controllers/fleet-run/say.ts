import type { Clock } from '../../lib/clock.ts';
import { commandIdOf, type EdgeOutcome, type RecentCommands } from '../../lib/edge/index.ts';
import { tryPaced } from '../../lib/retry.ts';
import { fleetRunLimits } from './limits.ts';
import type { NewsWriter } from './ports.ts';
import type { RunSession } from './session.ts';

export interface SayDeps {
  readonly clock: Clock;
  readonly news: NewsWriter;
  /** The last commands of hosts, for people. */
  readonly recent: Pick<RecentCommands, 'ended'>;
}

/**
 * Says how a command ended in place of its host; an answer of the host that was stored before counts instead. The outcome
 * counts when it comes back by the news. Never rejects.
 */
export async function say(deps: SayDeps, session: RunSession, node: string, result: EdgeOutcome): Promise<void> {
  if (session.isSettled(node)) return;
  await publish(deps, session, node, result);
}

/** Repeats what was said and did not come back: the log may have dropped it. */
export function sayAgain(deps: SayDeps, session: RunSession): void {
  const before = deps.clock.now() - fleetRunLimits.sayAgainMs;
  for (const [node, { result, at }] of session.said) {
    if (at !== undefined && at <= before) void publish(deps, session, node, result);
  }
}

async function publish(
  { news, clock, recent }: SayDeps,
  session: RunSession,
  node: string,
  result: EdgeOutcome,
): Promise<void> {
  session.said.set(node, { result, at: undefined });
  const ids = { tenant: session.tenant, run: session.uid, node_id: node, command_id: commandIdOf(session.uid, node) };
  const at = new Date(clock.now()).toISOString();
  const { signal } = session.stop;
  const pace = { clock, signal, pauseAfter: () => fleetRunLimits.retryMs };
  try {
    await tryPaced(pace, () => news.say({ ...ids, kind: 'result', at, result }));
  } catch {
    // The session has ended.
    return;
  }
  // It may have come back meanwhile.
  if (session.said.has(node)) session.said.set(node, { result, at: clock.now() });
  if (session.hasLeft(node)) void recent.ended({ ...ids, result, ended_at: at }).catch(() => undefined);
}
