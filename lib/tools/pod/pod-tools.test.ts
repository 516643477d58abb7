import { describe, expect, it } from 'vitest';
import type { Json } from '../../../crds/schema/parts.ts';
import { aToolCaller } from '../../../test/builders/tool-caller.ts';
import { createToolbox, type ToolboxOptions } from '../toolbox.ts';
import {
  type DispatchPlan,
  type DispatchResult,
  isRefusal,
  type ToolAnswer,
  type ToolArguments,
  type ToolCaller,
} from '../tool.ts';

const defaults: ToolboxOptions = { builtin_dispatchers: [] };

function admitted(caller: ToolCaller, name: string, args: ToolArguments, options = defaults) {
  const tool = createToolbox(options).admit(caller, name, args);
  if (isRefusal(tool)) throw new Error(tool.message);
  if (tool.run.kind !== 'pod') throw new Error('does not run in the pod');
  return tool.run;
}
const planOf = (caller: ToolCaller, name: string, args: ToolArguments, options = defaults): DispatchPlan | ToolAnswer =>
  admitted(caller, name, args, options).plan(caller, args);
const answerOf = (
  name: string,
  args: ToolArguments,
  result: Partial<DispatchResult>,
  options = defaults,
): ToolAnswer => {
  const caller = commander({ ls: [] });
  const whole = { exit_code: 0, stdout: '', stderr: '', duration_ms: 1, truncated: false, ...result };
  return admitted(caller, name, args, options).answer(caller, args, whole);
};

const commander = (list: Json | undefined, security = {}, config = {}): ToolCaller =>
  aToolCaller({
    security,
    spec: {
      tools: [
        { name: 'fs.*' },
        {
          name: 'cmd',
          executor: 'builtin:cmd',
          config: { ...(list === undefined ? {} : { subcommand_allowlist: list }), ...config },
        },
      ],
      env: { LANG: 'C' },
    },
  });

describe('cmd.run', () => {
  const verdict = (caller: ToolCaller, args: ToolArguments, options = defaults): string => {
    const tool = createToolbox(options).admit(caller, 'cmd.run', args);
    return isRefusal(tool) ? tool.code : 'admitted';
  };
  const git = { git: ['status', 'log'], ls: [] };

  it.each<[string, Json | undefined, ToolArguments, object, string]>([
    ['TOOL-CMD-05 with a listed first argument', git, { command: 'git', args: ['status', '-s'] }, {}, 'admitted'],
    ['TOOL-CMD-08 with another first argument', git, { command: 'git', args: ['push'] }, {}, 'SubcommandNotAllowed'],
    ['AMB-138 without arguments where some are listed', git, { command: 'git' }, {}, 'SubcommandNotAllowed'],
    ['AMB-138 without arguments and an empty list', git, { command: 'ls' }, {}, 'admitted'],
    ['AMB-138 with arguments and an empty list', git, { command: 'ls', args: ['-l'] }, {}, 'SubcommandNotAllowed'],
    [
      'AMB-138 where * is listed, which means nothing',
      { git: ['*'] },
      { command: 'git', args: ['status'] },
      {},
      'SubcommandNotAllowed',
    ],
    ['TOOL-CMD-07 of a command that is not listed', git, { command: 'rm' }, {}, 'CommandNotAllowed'],
    ['TOOL-CMD-07 by a path', git, { command: '/bin/git', args: ['status'] }, {}, 'CommandNotAllowed'],
    ['TOOL-CMD-07 of what every object has', git, { command: 'toString' }, {}, 'CommandNotAllowed'],
    ['TOOL-CMD-07 without a list', undefined, { command: 'git', args: ['status'] }, {}, 'CommandNotAllowed'],
    [
      'AMB-195 that the SecurityContext lists as well',
      git,
      { command: 'git', args: ['log'] },
      { subcommand_allowlist: { git: ['log'] } },
      'admitted',
    ],
    [
      'AMB-195 that the SecurityContext does not list',
      git,
      { command: 'git', args: ['status'] },
      { subcommand_allowlist: { git: ['log'] } },
      'SubcommandNotAllowed',
    ],
    [
      'AMB-195 with an empty list of the SecurityContext',
      git,
      { command: 'ls' },
      { subcommand_allowlist: {} },
      'CommandNotAllowed',
    ],
    ['TOOL-CMD-01 whose command is no string', git, { command: 7 }, {}, 'InvalidArguments'],
    [
      'TOOL-CMD-01 whose arguments are no strings',
      git,
      { command: 'git', args: ['status', 7] },
      {},
      'InvalidArguments',
    ],
    ['TOOL-CMD-01 whose arguments are no list', { ls: [] }, { command: 'ls', args: 'status' }, {}, 'InvalidArguments'],
  ])('%s: %j %j', (...[, list, args, security, want]) => {
    expect(verdict(commander(list, security), args)).toBe(want);
  });

  it('AMB-195 of a caller without an agent is bound by the SecurityContext alone', () => {
    const args = { command: 'ls' };
    expect(verdict(aToolCaller({ spec: null }), args)).toBe('CommandNotAllowed');
    expect(verdict(aToolCaller({ spec: null, security: { subcommand_allowlist: { ls: [] } } }), args)).toBe('admitted');
  });

  it('TOOL-CMD-02 TOOL-CMD-04 is a command in the workspace under the ceilings of the node', () => {
    const want = { command: 'git', args: ['status'], cwd: '/workspace', env_additions: { LANG: 'C' } };
    const args = { command: 'git', args: ['status'] };
    expect(planOf(commander(git), 'cmd.run', args)).toEqual({ ...want, timeout_secs: 300, max_output_bytes: 524_288 });
    const node = { builtin_dispatchers: [{ name: 'cmd', max_output_bytes: 10, timeout_ceiling_secs: 20 }] };
    expect(planOf(commander(git), 'cmd.run', args, node)).toEqual({ ...want, timeout_secs: 20, max_output_bytes: 10 });
  });

  it.each([
    [19, 'admitted'],
    [20, 'admitted'],
    [21, 'ExecTimeoutCeilingExceeded'],
  ])('TOOL-CMD-10 with a time of %i s under a ceiling of 20 s is %s', (seconds, want) => {
    const node = { builtin_dispatchers: [{ name: 'cmd', timeout_ceiling_secs: 20 }] };
    const caller = commander(git, {}, { timeout_secs: seconds });
    expect(verdict(caller, { command: 'ls' }, node)).toBe(want);
  });

  it('TOOL-CMD-10 has the time that the manifest asks for', () => {
    const caller = commander(git, {}, { timeout_secs: 20 });
    expect(planOf(caller, 'cmd.run', { command: 'ls' })).toMatchObject({ timeout_secs: 20 });
  });

  it('TOOL-CMD-03 answers streams and exit code; a command that fails is no failed call', () => {
    const { content, isError } = answerOf('cmd.run', { command: 'ls' }, { exit_code: 3, stdout: 'o', stderr: 'e' });
    expect([JSON.parse(content), isError]).toEqual([{ stdout: 'o', stderr: 'e', exit_code: 3 }, false]);
  });

  it.each([
    [5, 4, false, 'stdout'],
    [5, 5, false, 'stdout'],
    [5, 6, false, 'OutputSizeLimitExceeded'],
    [1, 1, true, 'OutputSizeLimitExceeded'],
  ])('TOOL-CMD-09 AMB-137 that wrote %i and %i bytes of ten, truncated %s, answers %s', (out, err, truncated, want) => {
    const node = { builtin_dispatchers: [{ name: 'cmd', max_output_bytes: 10 }] };
    const result = { stdout: 'x'.repeat(out), stderr: 'x'.repeat(err), truncated };
    const { content, isError } = answerOf('cmd.run', { command: 'ls' }, result, node);
    expect(content).toContain(want);
    expect(isError).toBe(want !== 'stdout');
  });

  it.each([
    [124, 300_000, 'ExecTimeoutCeilingExceeded'],
    [124, 299_999, '"exit_code":124'],
    [0, 300_001, '"exit_code":0'],
  ])('TOOL-CMD-10 that ended with %i after %i ms answers %s', (exit_code, duration_ms, want) => {
    expect(answerOf('cmd.run', { command: 'ls' }, { exit_code, duration_ms }).content).toContain(want);
  });
});

describe('a file tool', () => {
  const request = (name: string, args: ToolArguments, caller = aToolCaller()): unknown => {
    const plan = planOf(caller, name, args);
    if ('content' in plan) throw new Error(plan.content);
    return JSON.parse(plan.args.slice(1).join(''));
  };
  const common = { path: '/workspace/a', boundaries: [{ path: '/workspace', write: true }], deny: [] };
  const path = 'a';

  it.each<[string, string, ToolArguments, object]>([
    ['TOOL-FS-02', 'fs.read', {}, { op: 'read' }],
    ['TOOL-FS-03', 'fs.write', { content: 'x' }, { op: 'write', content: 'x' }],
    ['TOOL-FS-04', 'fs.list', {}, { op: 'list' }],
    ['TOOL-FS-05', 'fs.create_dir', {}, { op: 'create_dir' }],
    ['TOOL-FS-06', 'fs.delete', { recursive: true }, { op: 'delete', recursive: true }],
    ['TOOL-FS-06', 'fs.delete', { recursive: null }, { op: 'delete' }],
    [
      'TOOL-FS-08',
      'fs.edit',
      { target_content: 'a', replacement_content: '' },
      { op: 'edit', target_content: 'a', replacement_content: '' },
    ],
    [
      'TOOL-FS-09',
      'fs.multi_edit',
      { edits: [{ target_content: 'a', replacement_content: 'b' }] },
      { op: 'multi_edit', edits: [{ target_content: 'a', replacement_content: 'b' }] },
    ],
    ['TOOL-FS-10', 'fs.grep', { pattern: 'x' }, { op: 'grep', pattern: 'x' }],
    ['TOOL-FS-11', 'fs.glob', { pattern: '*' }, { op: 'glob', pattern: '*' }],
  ])('%s %s with %j asks the runner for it', (_id, name, args, want) => {
    expect(request(name, { path, ...args, op: 'read', boundaries: [], deny: [], other: 1 })).toEqual({
      ...common,
      ...want,
    });
  });

  it('TOOL-FS-01 hands on paths of the deny list', () => {
    const caller = aToolCaller({ security: { deny_list: ['cmd.run', '/workspace/.git'] } });
    expect(request('fs.read', { path }, caller)).toMatchObject({ deny: ['/workspace/.git'] });
  });

  it.each(['x', 'é', '€', '😀', 'x😀'])('is sent in parts of whole characters and at most 96 KiB: %s', (character) => {
    const content = character.repeat(Math.floor(1_000_000 / Buffer.byteLength(character)));
    const plan = planOf(aToolCaller(), 'fs.write', { path, content }) as DispatchPlan;
    for (const part of plan.args) {
      expect(Buffer.byteLength(part)).toBeLessThanOrEqual(96 * 1_024);
      expect(part.isWellFormed()).toBe(true);
    }
    expect((JSON.parse(plan.args.slice(1).join('')) as { content: string }).content).toBe(content);
    expect(plan).toMatchObject({
      command: '/windlass/runner',
      cwd: '/workspace',
      timeout_secs: 30,
      max_output_bytes: 2_097_152,
    });
  });

  it.each<[string, Partial<DispatchResult>, string, boolean]>([
    ['its content', { stdout: '{"ok":true,"content":"hello"}\n' }, 'hello', false],
    [
      'an error by its name',
      { stdout: '{"ok":false,"error":"NOT_FOUND","message":"no file a"}' },
      'NOT_FOUND: no file a',
      true,
    ],
    ['no answer', { exit_code: 2, stderr: 'broken' }, 'BACKEND_ERROR: broken', true],
    ['no answer and no words', { exit_code: 124 }, 'BACKEND_ERROR: the file tool ended with 124', true],
    ['half an answer', { stdout: '{"ok":tr', truncated: true }, 'TOO_LARGE', true],
    ['another form', { stdout: '{"ok":true}' }, 'BACKEND_ERROR', true],
    ['no object', { stdout: '[]' }, 'BACKEND_ERROR', true],
  ])('TOOL-FS-02 answers %s', (_what, result, want, isError) => {
    const given = answerOf('fs.read', { path }, result);
    expect(given.content).toContain(want);
    expect(given.isError).toBe(isError);
  });
});
