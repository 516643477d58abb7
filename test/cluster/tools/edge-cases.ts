import type { ToolCase } from './tool-case.ts';

const everyHost = { All: null };
const uname = { tool: 'cmd.run', args: { command: 'uname', args: ['-s'] } };

/** Over one host that is connected, and a run `run` on it that does not end by itself. */
export const edgeCases: readonly ToolCase[] = [
  {
    tool: 'svc.edge.fleet.list',
    args: { target: everyHost },
    want: { resolved: [{}], skipped: [] },
    refused: [{ target: { Group: 'nowhere' } }, /^REFUSED: .*target\.Group is the id of no group/],
  },
  {
    tool: 'svc.edge.fleet.invoke',
    args: { target: everyHost, ...uname },
    want: { outcome: 'complete' },
    refused: [{ target: everyHost, tool: 'svc.tools.list' }, /^REFUSED: tool is not fleet capable$/],
  },
  {
    tool: 'svc.edge.fleet.cancel',
    args: ({ run }) => ({ fleet_command_id: run }),
    want: {},
    refused: [{ fleet_command_id: 'nowhere' }, /^NOT_FOUND: /],
  },
];

/** The network of the cluster has no public address: what `web.*` does with one is proved in lib/tools/web. */
export const webCases: readonly ToolCase[] = [
  {
    tool: 'web.fetch',
    args: { url: 'http://127.0.0.1/' },
    want: /^DomainNotAllowed: 127\.0\.0\.1 has no pu/,
    isNeverGranted: true,
    refused: [{ url: 'http://example.com/' }, /^DomainNotAllowed: /],
  },
  {
    tool: 'web.search',
    args: { query: 'windlass' },
    want: /^(\w+: )?web\.search is not configured: add api_key to the web\.search entry in spec\.builtin_dispatchers$/,
    isNeverGranted: true,
  },
];
