import { expect, it } from 'vitest';
import type { GatewayClient } from '../../client/index.ts';
import { judgedTools } from './judged-tools.ts';
import { gatewayKinds, type GatewayToolRow } from './kinds.ts';

const tool = (name: string, source: GatewayToolRow['source']): GatewayToolRow => ({
  name,
  source,
  description: '',
  input_schema: {},
  skip_judge: false,
  fleet_capable: false,
});
const row = (name: string, scope: string, status?: string, reason = 'OperationNotFound') => ({
  id: `${name}-${scope}`,
  name,
  scope,
  ...(status !== undefined && { ready: { status, reason, message: 'a sentence' } }),
});

/** The lists that were read, and the verdicts that are shown. */
async function judged(tools: readonly GatewayToolRow[]) {
  const read: string[] = [];
  const list = (name: string, items: readonly unknown[]) => async () => {
    read.push(name);
    return { items, next_cursor: null };
  };
  const workflows = [
    row('orders.place', 'global', 'False', 'NameTaken'),
    row('orders.place', 'tenant', 'False'),
    row('orders.new', 'tenant'),
  ];
  const client = {
    listToolWorkflows: list('workflows', workflows),
    listCliTools: list('cli tools', [row('jq', 'global', 'True')]),
  } as unknown as GatewayClient;
  const shown = (await judgedTools(client, tools)).map(({ name, ready }) => `${name} ${ready}`);
  return { read, shown };
}

it('a listed tool has the verdict of the controllers on its object, with the reason where it is false', async () => {
  const tools = [
    tool('jq', 'cli'),
    tool('orders.new', 'workflow'),
    tool('orders.place', 'workflow'),
    tool('web.fetch', 'builtin'),
  ];
  expect((await judged(tools)).shown).toEqual([
    'jq True',
    'orders.new Unknown',
    'orders.place False: OperationNotFound',
    'web.fetch undefined',
  ]);
});

it('reads the lists of the kinds that are among the tools, and no others', async () => {
  expect((await judged([tool('web.fetch', 'builtin'), tool('docs.search', 'mcp')])).read).toEqual([]);
  expect((await judged([tool('jq', 'cli')])).read).toEqual(['cli tools']);
});

it.each(['spec', 'cli-tool', 'workflow'])('windlass gateway %s list has a column READY', (word) => {
  const column = gatewayKinds.find((kind) => kind.word === word)?.columns.find(({ heading }) => heading === 'READY');
  expect(column?.cell(row('x', 'tenant', 'False'))).toBe('False: OperationNotFound');
  expect(column?.cell(row('x', 'tenant', 'True'))).toBe('True');
});
