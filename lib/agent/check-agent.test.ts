import { describe, expect, it } from 'vitest';
import { limits } from '../../crds/limits.ts';
import { weekPattern } from '../../crds/schema/parts.ts';
import { anAgent } from '../../test/builders/agent-builder.ts';
import { heapBytes } from '../heap-bytes.ts';
import { agentJsonBytes, checkAgent } from './check-agent.ts';

const { spec } = anAgent();
const mountAt = (path: string) => ({ volume: 'data', mount_path: path, access_mode: 'read-only' });
const problems = (change: object): string[] =>
  checkAgent({ ...spec, ...change }).map(({ path, rule, severity }) => `${path} ${rule} ${severity}`);

describe('the spec of an agent', () => {
  it('AGENT-11 AGENT-12 AGENT-13 AGENT-14 AGENT-15 AGENT-16 AGENT-17 is legal with every field', () => {
    const runtime = { language: 'python', version: '3.12', model: 'smart' };
    const execution = { max_iterations: 50, timeout: '15m', tool_validation: { enabled: true } };
    const security = { filesystem: { read: ['/data'], write: ['/out'] } };
    const tools = [{ name: 'fs.read' }, { name: 'cmd.*' }];
    const volumes = [mountAt('/data')];
    expect(problems({ runtime, execution, security, tools, volumes, output_schema: { type: 'object' } })).toEqual([]);
  });

  it.each(['network', 'networks'])('has no security.%s, and says where that belongs', (field) => {
    const [problem, ...more] = checkAgent({ ...spec, security: { [field]: 'none' } });
    expect(more).toEqual([]);
    expect(problem).toMatchObject({
      path: `spec.security.${field}`,
      message: 'unknown field; belongs to the SecurityContext that spec.security.context names',
    });
  });

  it('ADR 0127 may take seven days, and not a second more', () => {
    const isLegal = (timeout: string): boolean => problems({ execution: { timeout } }).length === 0;
    const longest = { s: 604_800, m: 10_080, h: 168 };
    for (const [unit, most] of Object.entries(longest)) {
      const tried = [1, 9, 99, 100, most - 1, most, most + 1, most + 10, 10 * most, 999_999_999];
      expect(tried.filter((count) => isLegal(`${count}${unit}`))).toEqual(tried.filter((count) => count <= most));
    }
    const numbers = Array.from({ length: 1_200_000 }, (_, index) => index);
    const pattern = new RegExp(weekPattern);
    const wrong = Object.entries(longest).flatMap(([unit, most]) =>
      numbers.filter((count) => pattern.test(`${count}${unit}`) !== (count > 0 && count <= most)),
    );
    expect(wrong).toEqual([]);
    const [problem] = checkAgent({ ...spec, execution: { timeout: '169h' } });
    expect(problem).toMatchObject({
      path: 'spec.execution.timeout',
      message: expect.stringContaining('of 168h (7 days) at most') as string,
    });
  });

  it('AGENT-13 is legal without a model, and without a runtime', () => {
    const { runtime: _, ...rest } = spec;
    expect(checkAgent(rest)).toEqual([]);
    expect(problems({ runtime: {} })).toEqual([]);
  });

  it.each([
    ['AGENT-11 a text for its language', { runtime: { language: 3 } }, 'spec.runtime.language type error'],
    ['AGENT-11 a language that is not empty', { runtime: { language: '' } }, 'spec.runtime.language minLength error'],
    ['AGENT-12 a text for its version', { runtime: { version: 3.12 } }, 'spec.runtime.version type error'],
    ['AGENT-12 a version that is not empty', { runtime: { version: '' } }, 'spec.runtime.version minLength error'],
    ['AGENT-13 a text for its model', { runtime: { model: 1 } }, 'spec.runtime.model type error'],
    [
      'AGENT-14 an instruction that is not empty',
      { task: { instruction: '' } },
      'spec.task.instruction minLength error',
    ],
    ['AGENT-14 an instruction', { task: {} }, 'spec.task.instruction required error'],
    ['AGENT-14 a legal template', { task: { instruction: '{{#if}}' } }, 'spec.task.instruction template error'],
    ['AGENT-10 a semantic version', { version: 'one' }, 'spec.version pattern error'],
    ['AGENT-15 each tool once', { tools: [{ name: 'a' }, { name: 'a' }] }, 'spec.tools[1].name duplicate error'],
    ['a tool that there is', { tools: [{ name: 'svc.file.raed' }] }, 'spec.tools[0].name unknown_reference error'],
    ['no slip of a tool', { tools: [{ name: 'web_fetch' }] }, 'spec.tools[0].name unknown_reference warning'],
    [
      'a folder for a volume',
      { volumes: [mountAt('/data'), mountAt('/proc/1')] },
      'spec.volumes[1].mount_path mount_path error',
    ],
    [
      'one volume a folder',
      { volumes: [mountAt('/data'), mountAt('/data/')] },
      'spec.volumes[1].mount_path mount_path error',
    ],
    ['a known field', { tols: [] }, 'spec.tols unknown_field error'],
    ['a duration', { execution: { timeout: 'soon' } }, 'spec.execution.timeout pattern error'],
    ['a JSON Schema', { output_schema: { type: 'thing' } }, 'spec.output_schema.type json_schema error'],
    [
      'one judge of answers',
      { execution: { validation: { threshold: 0.5, model: 'smart', agent: 'accuracy' } } },
      'spec.execution.validation.agent exclusive error',
    ],
    ['a tool to approve', { approval: { tools: [] } }, 'spec.approval.tools minItems error'],
    ['a known field', { approval: { tools: ['a'], tool: [] } }, 'spec.approval.tool unknown_field error'],
    [
      'approval of tools that it has',
      { tools: [{ name: 'fs.read' }], approval: { tools: ['cmd.run'] } },
      'spec.approval.tools[0] unknown_reference warning',
    ],
    [
      'a map of commands',
      { tools: [{ name: 'cmd', config: { subcommand_allowlist: 'git' } }] },
      'spec.tools[0].config.subcommand_allowlist type warning',
    ],
    [
      'a list of first arguments',
      { tools: [{ name: 'cmd', config: { subcommand_allowlist: { git: 'status', ls: [] } } }] },
      'spec.tools[0].config.subcommand_allowlist.git type warning',
    ],
    ['commands that may run', { tools: [{ name: 'cmd' }] }, 'spec.tools[0].config.subcommand_allowlist type warning'],
    [
      'a time above 0',
      { tools: [{ name: 'cmd', config: { subcommand_allowlist: {}, timeout_secs: 0 } }] },
      'spec.tools[0].config.timeout_secs type warning',
    ],
    [
      'a known setting',
      { tools: [{ name: 'cmd.run', config: { subcommand_allowlist: {}, timeout_seconds: 5 } }] },
      'spec.tools[0].config.timeout_seconds ignored warning',
    ],
    [
      'the configuration of the node for the judge, TOOL-RULE-05,',
      { tools: [{ name: 'cmd', config: { subcommand_allowlist: {}, skip_judge: true } }] },
      'spec.tools[0].config.skip_judge ignored warning',
    ],
    [
      'settings at the entry cmd',
      { tools: [{ name: 'cmd.*', config: { subcommand_allowlist: { ls: [] } } }] },
      'spec.tools[0].config ignored warning',
    ],
    [
      'the executor of its name',
      { tools: [{ name: 'fs.read', executor: 'docker:fs' }] },
      'spec.tools[0].executor ignored warning',
    ],
    ['a container for its image', { runtime: { image: 'node:24' } }, 'spec.runtime.image ignored warning'],
    ['a container for its environment', { tools: [{ name: 'svc.*' }], env: { A: 'b' } }, 'spec.env ignored warning'],
    ['a container for its resources', { resources: { cpu: 100 } }, 'spec.resources ignored warning'],
    [
      'a known name in its template',
      { task: { instruction: '{{inptu}}' } },
      'spec.task.instruction unknown_reference warning',
    ],
  ])('needs %s', (_title, change, problem) => {
    expect(problems(change)).toContain(problem);
  });

  it.each([
    ['AGENT-11', 'language'],
    ['AGENT-12', 'version'],
    ['AGENT-13', 'model'],
  ])('%s has up to 63 characters in its %s', (_id, field) => {
    const found = [62, 63, 64].map((length) => problems({ runtime: { [field]: 'x'.repeat(length) } }));
    expect(found).toEqual([[], [], [`spec.runtime.${field} maxLength error`]]);
  });

  const holding = (bytes: number) => {
    const schema = { type: 'object', description: '' };
    return { ...schema, description: 'x'.repeat(bytes - heapBytes(schema, 1_000)) };
  };

  it.each([
    ['cmd', 'builtin:cmd', 1],
    ['cmd.run', 'builtin:cmd', 0.5],
    ['cmd.run', undefined, 60],
  ])(
    'TOOL-CMD-04 takes the entry %s with the executor %s and a time of %d seconds as it is',
    (name, executor, seconds) => {
      const config = { subcommand_allowlist: { git: ['status'], ls: [] }, timeout_secs: seconds };
      expect(problems({ tools: [{ name, config, ...(executor && { executor }) }] })).toEqual([]);
    },
  );

  it.each([
    ['a tool for files', { tools: [{ name: 'fs.read' }] }],
    ['every tool', { tools: [{ name: '*' }] }],
    ['a volume', { volumes: [{ volume: 'data', mount_path: '/data', access_mode: 'read-only' }] }],
  ])('has a container for its settings with %s', (_what, fields) => {
    const settings = { runtime: { image: 'node:24' }, env: { A: 'b' }, resources: { cpu: 100 } };
    expect(problems({ ...settings, ...fields }).filter((problem) => problem.includes('ignored'))).toEqual([]);
  });

  it.each([
    [agentJsonBytes - 1, []],
    [agentJsonBytes, ['spec.output_schema too_large error']],
    [agentJsonBytes + 1, ['spec.output_schema too_large error']],
  ])('may have an output_schema that takes less than 512 KiB of memory: %i bytes', (bytes, want) => {
    expect(problems({ output_schema: holding(bytes) })).toEqual(want);
  });

  it('is refused, with nothing else of it looked at, where its free JSON unpacks to a multiple of its size', () => {
    const bomb = { type: 'object', enum: Array.from({ length: 350_000 }, () => ({})) };
    expect(problems({ output_schema: bomb, version: 'one' })).toEqual(['spec.output_schema too_large error']);
    const tools = ['fs.read', 'fs.write'].map((name) => ({ name, config: { list: bomb.enum.slice(0, 4_000) } }));
    expect(problems({ tools })).toEqual(['spec.tools too_large error']);
  });

  it.each([
    ['cmd.run', 'cmd.run'],
    ['cmd', 'cmd.run'],
    ['svc.*', 'svc.workflow.delete'],
    ['svc.workflow.*', 'svc.*'],
    ['fs.write', '*.write'],
    ['fs.*', '*'],
  ])('with the tool %s may have %s approved', (name, pattern) => {
    const config = name.startsWith('cmd') ? { config: { subcommand_allowlist: { ls: [] } } } : {};
    expect(problems({ tools: [{ name, ...config }], approval: { tools: [pattern] } })).toEqual([]);
  });

  it.each([
    [0, false],
    [1, true],
    [604_800, true],
    [604_801, false],
  ])('waits %i seconds for approval: %s', (timeout_seconds, legal) => {
    const approval = { tools: ['fs.read'], timeout_seconds };
    expect(problems({ tools: [{ name: 'fs.read' }], approval }).length === 0).toBe(legal);
  });

  it.each([
    [0, false],
    [1, true],
    [50, true],
    [51, false],
  ])('has %i iterations: %s', (max_iterations, legal) => {
    expect(problems({ execution: { max_iterations } }).length === 0).toBe(legal);
  });

  it.each([
    [limits.agentTools - 1, true],
    [limits.agentTools, true],
    [limits.agentTools + 1, false],
  ])('AGENT-15 has %i tools: %s', (count, legal) => {
    const tools = Array.from({ length: count }, (_, index) => ({ name: `tool.${index}` }));
    expect(problems({ tools }).length === 0).toBe(legal);
  });

  it('AGENT-15 has as many tools and patterns compared as there may be, where a list is longer', () => {
    const tools = Array.from({ length: limits.agentTools + 5 }, () => ({ name: 'svc.file.raed' }));
    const approval = { tools: Array.from({ length: limits.approvalPatterns + 5 }, () => 'orders.list') };
    const found = problems({ tools, approval });
    expect(found.filter((line) => line.startsWith('spec.tools['))).toHaveLength(limits.agentTools);
    expect(found.filter((line) => line.startsWith('spec.approval.tools['))).toHaveLength(limits.approvalPatterns);
    expect(found).toEqual(expect.arrayContaining(['spec.tools maxItems error', 'spec.approval.tools maxItems error']));
  });

  it.each([null, 'text', []])('is a map, and %j is none', (value) => {
    expect(checkAgent(value)).toMatchObject([{ path: 'spec', rule: 'type' }]);
  });
});
