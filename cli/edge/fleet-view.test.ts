import { describe, expect, it } from 'vitest';
import type { InvokeFleetEvent } from '../../client/index.ts';
import { paint } from '../terminal.ts';
import { afterEvent, fleetStateOf } from './fleet-state.ts';
import { fleetView } from './fleet-view.ts';

const hosts = ['a', 'b', 'c'].map((name) => ({ node_id: `id-${name}`, name }));
const head = { title: 'cmd.run uptime', startedAt: 0 };

function shown(events: readonly InvokeFleetEvent[], size = { columns: 80, rows: 20 }): string[] {
  const state = events.reduce(afterEvent, fleetStateOf(hosts));
  return fleetView(state, head, 1_500, size).map((line) => paint(line, false));
}

const progress = (node_id: string, stdout: string) => ({ node_id, command_id: 'c', chunk: { stdout } });
const failed = (node_id: string) => ({
  node_id,
  command_id: 'c',
  result: { err: { code: 'Late', message: 'too slow' } },
});
const done = (node_id: string) => ({ node_id, command_id: 'c', result: { ok: { exit_code: 0, duration_ms: 200 } } });
const end = {
  fleet_command_id: 'r',
  targets_resolved: ['id-a', 'id-b', 'id-d'],
  targets_skipped: [],
  summary: { ok: 1, err: 0, timed_out: 0, cancelled: 0, not_started: 2 },
};

describe('the table of a fleet run', () => {
  it('has a line for each host with its state, and the last line of its output', () => {
    expect(shown([progress('id-a', 'one\ntwo\n'), failed('id-b')])).toEqual([
      'cmd.run uptime  1 running, 1 failed, 1 waiting  1.5s',
      '  ⠴ a  running      two',
      '  ✘ b  failed       Late: too slow',
      '  · c  waiting    ',
    ]);
  });

  it('shows first what runs or failed where not all hosts fit', () => {
    expect(shown([done('id-a'), progress('id-c', 'x')], { columns: 80, rows: 5 }).slice(1)).toEqual([
      '  ⠴ c  running      x',
      '  · b  waiting    ',
      '  … 1 more hosts',
    ]);
  });

  it('cuts lines at the width of the terminal', () => {
    for (const line of shown([progress('id-a', 'x'.repeat(200))], { columns: 30, rows: 20 })) {
      expect(line.length).toBeLessThanOrEqual(30);
    }
  });

  it('has at the end the hosts of the run alone, and says which were not started', () => {
    const lines = shown([done('id-a'), progress('id-b', 'x'), end]);
    expect(lines.map((line) => line.trim().split(/ {2,}/)[0])).toEqual(['cmd.run uptime', '✔ a', '– b', '– id-d']);
  });

  it('keeps the outcome of a host whose output comes late', () => {
    expect(shown([done('id-a'), progress('id-a', 'late')])[1]).toMatch(/✔ a {2}ok/);
  });
});
