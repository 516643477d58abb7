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

/** Over the site of web-site.ts, which the installation permits: by its name, and as the provider of searches. */
export const webCases: readonly ToolCase[] = [
  {
    tool: 'web.fetch',
    args: ({ site }) => ({ url: `${site}/moved` }),
    want: /^# Welcome\n\nRead \[more\]\(\/next\)\.$/,
    refused: [({ site }) => ({ url: `${site}/inside` }), /^DomainNotAllowed: \S+ has no public address/],
  },
  {
    tool: 'web.search',
    args: { query: 'windlass', max_results: 2 },
    want: /^1\. windlass 1\n   http:\/\/site\.example\/1\n   About windlass\.\n2\. windlass 2\n[^3]*$/,
    refused: [{ query: 'broken' }, /^HttpError: the search provider answered 500$/],
  },
];
