import type { EdgeGroupSummary, EdgeGroupView, EdgeHostSummary, EdgeHostView } from './schema.ts';

const node_id = '6c0a3c52-8a52-8a8e-9c0e-6d7d6a0c9f11';

export const hostSummaryExample: EdgeHostSummary = {
  node_id,
  name: 'build-7',
  tenant_id: 'acme',
  status: 'Connected',
  since: '2026-11-02T09:31:00Z',
  last_heartbeat_at: '2026-11-02T09:31:00Z',
  tags: ['build'],
  capabilities: { os: 'linux', arch: 'x64', local_tools: ['cmd.run'], labels: { rack: 'b2' } },
};

export const hostExample: EdgeHostView = {
  ...hostSummaryExample,
  enrolled_at: '2026-11-02T09:30:00Z',
  recent_commands: [
    {
      command_id: '1b9d6bcd-bbfd-8b2d-9b5d-ab8dfbbd4bed',
      tool: 'cmd.run',
      dispatched_at: '2026-11-02T10:00:00Z',
      outcome: 'ok',
      duration_ms: 120,
    },
  ],
};

const group = {
  id: '3f0f6c1e-52a8-4c0e-9b53-0c0f5a3a7d10',
  name: 'builders',
  selector: { os: 'linux', tags: [{ Has: 'build' }] },
  pinned_members: [],
  created_at: '2026-11-02T09:45:00Z',
};

export const groupSummaryExample: EdgeGroupSummary = { ...group, resolved_member_count: 1 };
export const groupExample: EdgeGroupView = {
  ...group,
  resolved_members: [{ node_id, name: 'build-7', status: 'Connected' }],
};
