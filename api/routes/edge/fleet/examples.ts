import type { FleetRunSummary, FleetRunView, Preview } from './schema.ts';

const node_id = '6c0a3c52-8a52-8a8e-9c0e-6d7d6a0c9f11';
const command_id = '1b9d6bcd-bbfd-8b2d-9b5d-ab8dfbbd4bed';

export const previewExample: Preview = {
  resolved: [{ node_id, name: 'build-7', status: 'Connected' }],
  skipped: [{ node_id: '0f0a3c52-8a52-8a8e-9c0e-6d7d6a0c9f12', reason: 'Disconnected' }],
};

export const runSummaryExample: FleetRunSummary = {
  fleet_command_id: 'a8a5f0c2-3f0b-4a52-8f5d-7f3b6f0b1c22',
  tool: 'cmd.run',
  target: { Group: '3f0f6c1e-52a8-4c0e-9b53-0c0f5a3a7d10' },
  policy: { mode: { Rolling: { batch: 2 } }, max_concurrency: 2, failure_policy: { StopAfter: 1 } },
  started_at: '2026-11-02T10:00:00Z',
  ended_at: '2026-11-02T10:00:04Z',
  outcome: 'complete',
  requested_by: 'ada',
  summary: { ok: 1, err: 0, timed_out: 0, cancelled: 0, not_started: 0 },
};

export const runExample: FleetRunView = {
  ...runSummaryExample,
  per_node: [
    { node_id, command_id, outcome: 'ok', exit_code: 0, duration_ms: 120, stdout_tail: 'done\n', stderr_tail: '' },
  ],
};

export const invokeExample = [
  `id: 1\nevent: command_progress\ndata: {"node_id":"${node_id}","command_id":"${command_id}","chunk":{"stdout":"done\\n"}}\n`,
  `id: 2\nevent: command_result\ndata: {"node_id":"${node_id}","command_id":"${command_id}","result":{"ok":{"exit_code":0,"duration_ms":120}}}\n`,
  `id: end\nevent: fleet_result\ndata: {"fleet_command_id":"${runSummaryExample.fleet_command_id}","targets_resolved":["${node_id}"],"targets_skipped":[],"summary":{"ok":1,"err":0,"timed_out":0,"cancelled":0,"not_started":0}}\n`,
].join('\n');
