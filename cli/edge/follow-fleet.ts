import type { Clock } from '../../lib/clock.ts';
import { createScreen } from '../screen.ts';
import type { Terminal } from '../terminal.ts';
import { redrawUntil } from '../watch-execution.ts';
import { createFleetLines } from './fleet-lines.ts';
import { afterEvent, type FleetServerEvent, type FleetState } from './fleet-state.ts';
import { fleetView } from './fleet-view.ts';

interface FollowDeps {
  readonly clock: Clock;
  readonly terminal: Terminal;
}

interface Followed {
  readonly events: AsyncIterable<FleetServerEvent>;
  /** The state before the first event. */
  readonly begin: FleetState;
  readonly title: string;
}

/** Shows a run as a table that is drawn again and again in its place; answers the state at its end. */
export async function watchFleet(
  { clock, terminal }: FollowDeps,
  { events, begin, title }: Followed,
): Promise<FleetState> {
  const screen = createScreen(terminal);
  const startedAt = clock.now();
  let state = begin;
  const draw = (): void => {
    const size = { columns: terminal.columns() - 1, rows: terminal.rows() - 1 };
    screen.draw(fleetView(state, { title, startedAt }, clock.now(), size));
  };
  const over = new AbortController();
  const read = async (): Promise<void> => {
    try {
      for await (const { data } of events) {
        state = afterEvent(state, data);
        draw();
      }
    } finally {
      over.abort();
    }
  };
  try {
    draw();
    await Promise.all([read(), redrawUntil(over.signal, { clock }, draw)]);
    draw();
    return state;
  } finally {
    screen.close();
  }
}

/** Shows a run as lines of output, each with its host; `isQuiet` shows nothing. Answers the state at its end. */
export async function printFleet(
  { terminal }: Pick<FollowDeps, 'terminal'>,
  { events, begin }: Omit<Followed, 'title'>,
  isQuiet: boolean,
): Promise<FleetState> {
  let state = begin;
  const lines = createFleetLines(terminal, (id) => state.hosts.get(id)?.name ?? id);
  for await (const { data } of events) {
    state = afterEvent(state, data);
    if (isQuiet) continue;
    if ('chunk' in data) lines.push(data);
    if ('result' in data) lines.flush(data.node_id);
  }
  lines.flush();
  return state;
}
