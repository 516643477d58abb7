import { describe, expect, it } from 'vitest';
import { aToolCaller } from '../../test/builders/tool-caller.ts';
import { catalogue } from './catalogue/catalogue.ts';
import { createToolbox, type ToolRuns } from './toolbox.ts';
import { isRefusal, type Tool, type ToolCaller } from './tool.ts';

const toolbox = createToolbox({ builtin_dispatchers: [] });

/** `admitted`, or the code of the refusal. */
const verdict = (caller: ToolCaller, name: string, args: unknown): string => {
  const admitted = toolbox.admit(caller, name, args);
  return isRefusal(admitted) ? admitted.code : 'admitted';
};
const message = (name: string, args: unknown): string => {
  const admitted = toolbox.admit(aToolCaller({ security: { tier: 'operator' } }), name, args);
  return isRefusal(admitted) ? admitted.message : 'admitted';
};

const argumentsOf: Readonly<Record<string, string>> = { url: 'https://example.com', path: '/workspace/a' };

describe('required arguments', () => {
  const rows = [...catalogue.values()].flatMap(({ name, input_schema: { required = [] } }) =>
    required.map((field): [string, string, readonly string[]] => [name, field, required]),
  );

  it.each(rows)(
    'TOOL-RULE-06 GW-INV-28 %s without %s, or with null, is refused in the exact words',
    (name, field, required) => {
      const before = required.slice(0, required.indexOf(field));
      const given = Object.fromEntries(before.map((one) => [one, argumentsOf[one] ?? 'x']));
      const want = `Invalid tool arguments: required field '${field}' is missing or null for tool '${name}'`;
      expect(message(name, given)).toBe(want);
      expect(message(name, { ...given, [field]: null })).toBe(want);
    },
  );

  it('AMB-131 names the first missing one of the table', () => {
    expect(message('fs.write', {})).toContain("field 'path'");
    expect(message('fs.grep', {})).toContain("field 'pattern'");
  });

  it('AMB-132 AMB-133 refuses an empty command, and fs.list without its path', () => {
    expect(message('cmd.run', { command: '' })).toBe(
      "Invalid tool arguments: required field 'command' is missing or null for tool 'cmd.run'",
    );
    expect(message('fs.list', {})).toContain("required field 'path' is missing or null for tool 'fs.list'");
  });

  it('TOOL-RULE-07 AMB-135 a tool without required arguments takes any object', () => {
    for (const args of [{}, { anything: [1] }])
      expect(verdict(aToolCaller(), 'svc.workflow.promote', args)).toBe('admitted');
    for (const args of [undefined, null, [], 'x', 1])
      expect(verdict(aToolCaller(), 'svc.agent.list', args)).toBe('InvalidArguments');
  });

  it.each([
    ['fs.read', { path: 7 }],
    ['fs.delete', { path: '/workspace/a', recursive: 'yes' }],
    ['fs.multi_edit', { path: '/workspace/a', edits: [{ target_content: 'x' }] }],
    ['web.search', { query: 'x', max_results: 0 }],
    ['web.search', { query: 'x', max_results: 21 }],
    ['svc.workflow.create', { manifest_yaml: 'w', scope: 'bogus' }],
    ['svc.workflow.update', { manifest_yaml: 'w', force: 'false' }],
  ])('%s with %j is of the wrong type', (name, args) => {
    expect(verdict(aToolCaller(), name, args)).toBe('InvalidArguments');
  });

  it.each<[id: string, name: string, field: string, values: { right: unknown[]; wrong: unknown[] }]>([
    ['TOOL-RULE-12', 'svc.runtime.list', 'language', { right: ['python', 'cobol'], wrong: [7] }],
    [
      'TOOL-RULE-13',
      'svc.tools.search',
      'query',
      { right: ['file', '', 'x'.repeat(255), 'x'.repeat(256)], wrong: [7, 'x'.repeat(257)] },
    ],
    ['TOOL-RULE-14', 'svc.git.list', 'page', { right: [1, 2], wrong: [0, -1, 1.5, 'one'] }],
    ['TOOL-RULE-14', 'svc.git.list', 'limit', { right: [1, 2, 199, 200], wrong: [0, 201, 1.5, 'ten'] }],
    ['TOOL-RULE-15', 'svc.script.list', 'tag', { right: ['x'], wrong: [1, ['x']] }],
    ['TOOL-RULE-15', 'svc.script.list', 'q', { right: ['x', '', 'x'.repeat(256)], wrong: [1, 'x'.repeat(257)] }],
  ])('%s %s may have %s: %j', (_id, name, field, { right, wrong }) => {
    const verdicts = (values: readonly unknown[]) =>
      values.map((one) => verdict(aToolCaller(), name, { [field]: one }));
    expect(verdict(aToolCaller(), name, {})).toBe('admitted');
    expect(verdicts([null, ...right])).toEqual(Array(right.length + 1).fill('admitted'));
    expect(verdicts(wrong)).toEqual(wrong.map(() => 'InvalidArguments'));
  });

  it('takes null for an optional argument as absent', () => {
    expect(verdict(aToolCaller(), 'fs.delete', { path: '/workspace/a', recursive: null })).toBe('admitted');
  });

  it.each([
    ['a mebibyte', 1_048_576 - '{"a":""}'.length, 'admitted'],
    ['a byte more', 1_048_577 - '{"a":""}'.length, 'InvalidArguments'],
  ])('arguments of %s are %s', (_what, length, want) => {
    expect(verdict(aToolCaller(), 'svc.agent.list', { a: 'x'.repeat(length) })).toBe(want);
  });

  it.each([
    [64, 'admitted'],
    [65, 'InvalidArguments'],
  ])('arguments of %i levels are %s', (levels, want) => {
    let value: unknown = 1;
    for (let level = 1; level < levels; level += 1) value = [value];
    expect(verdict(aToolCaller(), 'svc.agent.list', { value })).toBe(want);
  });
});

describe('the name of a tool', () => {
  const named = (...names: string[]) => ({ spec: { tools: names.map((name) => ({ name })) } });
  const read = { path: '/workspace/a' };
  it.each<[string, Parameters<typeof aToolCaller>[0], string, unknown, string]>([
    ['AGENT-15 named itself', named('fs.read'), 'fs.read', read, 'admitted'],
    ['named by fs.*', named('fs.*'), 'fs.read', read, 'admitted'],
    ['AGENT-15 beside the named one', named('fs.read'), 'fs.write', { ...read, content: '' }, 'ToolNotAllowed'],
    ['AGENT-15 whose beginning alone is named', named('fs.rea', 'fs.r'), 'fs.read', read, 'ToolNotAllowed'],
    ['with a longer prefix', named('f.*'), 'fs.read', read, 'ToolNotAllowed'],
    ['AGENT-15 of an agent without tools', { spec: { tools: undefined } }, 'fs.read', read, 'ToolNotAllowed'],
    ['TOOL-CMD-06 cmd.run where cmd is not named', named('fs.*'), 'cmd.run', { command: 'ls' }, 'ToolNotAllowed'],
    ['AMB-195 that tools lists', { security: { tools: ['fs.*'] } }, 'fs.read', read, 'admitted'],
    ['AMB-195 that tools does not list', { security: { tools: ['web.*'] } }, 'fs.read', read, 'ToolNotAllowed'],
    ['AMB-195 with an empty list of tools', { security: { tools: [] } }, 'fs.read', read, 'ToolNotAllowed'],
    [
      'AMB-195 that both lists name',
      { security: { tools: ['*'], deny_list: ['svc.*'] } },
      'svc.agent.list',
      {},
      'ToolNotAllowed',
    ],
    [
      'TOOL-FS-07 fs.delete on the deny list',
      { security: { deny_list: ['fs.delete'] } },
      'fs.delete',
      read,
      'PERMISSION_DENIED',
    ],
    ['AMB-130 that does not exist', {}, 'fs.format', {}, 'UnknownTool'],
    ['that every object has', {}, 'constructor', {}, 'UnknownTool'],
  ])('%s: %j', (...[, parts, name, args, want]) => {
    expect(verdict(aToolCaller(parts), name, args)).toBe(want);
  });

  it('AMB-131 is looked at before the arguments', () => {
    expect(verdict(aToolCaller(named('web.*')), 'fs.read', {})).toBe('ToolNotAllowed');
  });
});

describe('what is offered', () => {
  const run: ToolRuns[string] = { kind: 'api', run: async () => ({ content: 'ran', isError: false }) };

  it('is what the caller may call and something runs', () => {
    const box = createToolbox({ builtin_dispatchers: [] }, { 'svc.agent.list': run });
    const names = (caller: ToolCaller) => box.offered(caller).map(({ name }) => name);
    expect(names(aToolCaller())).toEqual(expect.arrayContaining(['cmd.run', 'fs.read', 'svc.agent.list']));
    expect(names(aToolCaller())).not.toContain('svc.git.list');
    expect(names(aToolCaller({ spec: { tools: [{ name: 'svc.*' }] } }))).toEqual(['svc.agent.list']);
    expect(names(aToolCaller({ security: { deny_list: ['*'] } }))).toEqual([]);
  });

  it('AMB-194 a tool that nothing runs answers so by itself', async () => {
    const tool = toolbox.admit(aToolCaller(), 'svc.git.list', {}) as Tool;
    if (tool.run.kind !== 'api') throw new Error('runs in the API');
    expect(await tool.run.run(aToolCaller(), {}, new AbortController().signal)).toEqual({
      isError: true,
      content: 'NOT_AVAILABLE: svc.git.list is not available in this release',
    });
  });
});

describe('the judge', () => {
  const judged = (capabilities: readonly { name: string; skip_judge?: boolean }[], name: string): boolean => {
    const box = createToolbox({ builtin_dispatchers: [{ name: 'x', capabilities }] });
    return box.isJudged(box.admit(aToolCaller(), name, { path: '/workspace/a', content: '' }) as Tool);
  };

  it('TOOL-RULE-04 TOOL-RULE-05 looks at what the node configuration says, else the default', () => {
    expect(judged([], 'fs.write')).toBe(true);
    expect(judged([], 'fs.read')).toBe(false);
    expect(judged([{ name: 'fs.write', skip_judge: true }], 'fs.write')).toBe(false);
    expect(judged([{ name: 'fs.read', skip_judge: false }], 'fs.read')).toBe(true);
    expect(judged([{ name: 'fs.write' }], 'fs.write')).toBe(true);
    const config = { skip_judge: true };
    const caller = aToolCaller({ spec: { tools: [{ name: 'fs.write', config }] } });
    const tool = toolbox.admit(caller, 'fs.write', { path: '/workspace/a', content: '', skip_judge: true }) as Tool;
    expect(toolbox.isJudged(tool)).toBe(true);
  });
});

describe('EDGE-TOOL-04 tools of a fleet', () => {
  const target = { target: { All: null } };
  const call = (security: ToolCaller['security']) => verdict(aToolCaller({ security }), 'svc.edge.fleet.list', target);

  it.each<[security: ToolCaller['security'], want: string]>([
    [{}, 'ToolNotAllowed'],
    [{ tools: ['*'] }, 'ToolNotAllowed'],
    [{ tier: 'user', tools: ['svc.edge.*'] }, 'ToolNotAllowed'],
    [{ tier: 'tenant-admin' }, 'admitted'],
    [{ tier: 'operator' }, 'admitted'],
    [{ tier: 'operator', tools: ['fs.*'] }, 'ToolNotAllowed'],
    [{ tier: 'operator', deny_list: ['svc.edge.*'] }, 'ToolNotAllowed'],
  ])('in a context %j: %s', (security, want) => {
    expect(call(security)).toBe(want);
  });

  it.each<[name: string, want: string]>([
    ['svc.*', 'ToolNotAllowed'],
    ['svc.edge.*', 'admitted'],
    ['svc.edge.fleet.list', 'admitted'],
    ['svc.edge.fleet.invoke', 'ToolNotAllowed'],
  ])('ADR 0095 an agent whose manifest names %s: %s', (name, want) => {
    const caller = aToolCaller({ security: { tier: 'operator' }, spec: { tools: [{ name }] } });
    expect(verdict(caller, 'svc.edge.fleet.list', target)).toBe(want);
  });

  it.each<[tool: string, scopes: readonly string[] | undefined, want: string]>([
    ['svc.edge.fleet.list', undefined, 'ToolNotAllowed'],
    ['svc.edge.fleet.list', ['svc.edge.fleet.read'], 'admitted'],
    ['svc.edge.fleet.cancel', ['svc.edge.fleet.read'], 'ToolNotAllowed'],
    ['svc.edge.fleet.cancel', ['svc.edge.fleet.manage'], 'admitted'],
    ['svc.edge.fleet.list', ['svc.edge.fleet.manage'], 'ToolNotAllowed'],
  ])('ADR 0095 EDGE-AUTH-07 a session calls %s with the scopes %j of its maker: %s', (tool, scopes, want) => {
    const caller = aToolCaller({ security: { tier: 'operator' }, spec: null, ...(scopes && { scopes }) });
    expect(verdict(caller, tool, { ...target, fleet_command_id: 'f-1' })).toBe(want);
  });
});
