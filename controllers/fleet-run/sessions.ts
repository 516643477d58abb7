import type { FleetRun } from '../../crds/schema/fleet-run.ts';
import type { Clock } from '../../lib/clock.ts';
import { readRecords, readTargets, storeReader } from '../../lib/fleet/run-record.ts';
import type { OutputStore } from '../../lib/output-store/output-store.ts';
import type { NewsReader } from './ports.ts';
import { RunSession } from './session.ts';

export interface SessionsDeps {
  readonly clock: Clock;
  readonly store: Pick<OutputStore, 'get'>;
  readonly newsReader: NewsReader;
  readonly sessions: Map<string, RunSession>;
  /** Called for each session that opens; what it serves ends with the session. */
  readonly serveRecords: (session: RunSession) => void;
  readonly wake: (key: string) => void;
}

type SessionFacts = ConstructorParameters<typeof RunSession>[1];

export function openSession(deps: SessionsDeps, facts: SessionFacts): RunSession {
  const { name, namespace = '' } = facts.run.metadata;
  const { newsReader: news, clock } = deps;
  closeSession(deps.sessions, facts.run.metadata.uid ?? '');
  const session = new RunSession({ news, clock, wake: () => deps.wake(`${namespace}/${name}`) }, facts);
  deps.sessions.set(session.uid, session);
  deps.serveRecords(session);
  void session.follow();
  return session;
}

/** Opens the session of a run that was begun before. Throws AppError `OutputLost` where its record is gone. */
export async function reopenSession(deps: SessionsDeps, run: FleetRun, tenant: string): Promise<RunSession> {
  const read = storeReader(deps.store);
  const [targets, records] = await Promise.all([readTargets(read, run), readRecords(read, run)]);
  return openSession(deps, { run, tenant, targets, records, isNew: false });
}

export function closeSession(sessions: Map<string, RunSession>, uid: string): void {
  sessions.get(uid)?.stop.abort();
  sessions.delete(uid);
}
