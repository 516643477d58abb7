import { describe, expect, it } from 'vitest';
import { annotations } from '../../../crds/labels.ts';
import { limits } from '../../../crds/limits.ts';
import type { State } from '../../../crds/schema/state.ts';
import { aScript, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import { World, type WorldOptions } from '../../../test/builders/world.ts';

const call = (env: Readonly<Record<string, string>>, more: object = {}): State => ({
  kind: 'System',
  command: 'call_tool',
  env: { ...env },
  transitions: [],
  ...more,
});

const restart = {
  tool: 'svc.edge.fleet.invoke',
  arguments: '{"tool":"cmd.run","args":{"command":"{{input.command}}"}}',
};

function worldOf(state: State, options: WorldOptions = {}): World {
  return new World(aWorkflow('w').state('a', state).build(), options).settle();
}

/** The call that was made last. */
const callOf = (world: World) => [...world.toolCalls.values()].at(-1);
const argumentsOf = (world: World): unknown => JSON.parse(callOf(world)?.spec.arguments ?? 'null');
const lastVisit = ({ status }: World) => status.history?.at(-1);

describe('a System state call_tool', () => {
  it('makes one call, for the visit, in the name of the one who started the execution', () => {
    const world = worldOf(call({ ...restart, security_context: 'fleet' }, { timeout: '10m' }), {
      spec: { input: { command: 'systemctl' } },
      annotations: { [annotations.startedBy]: 'ada' },
    });
    expect(world.pods.size).toBe(0);
    expect([...world.toolCalls.values()].map(({ spec }) => spec)).toEqual([
      {
        tool: 'svc.edge.fleet.invoke',
        arguments: '{"tool":"cmd.run","args":{"command":"systemctl"}}',
        security_context: 'fleet',
        subject: 'ada',
        timeout: '10m',
        parent: { name: world.execution.metadata.name, uid: world.execution.metadata.uid, state: 'a', visit: 1 },
      },
    ]);
    world.settle();
    expect(world.toolCalls.size).toBe(1);
  });

  it('is a call of the workflow where no user started the execution, with no arguments and the default timeout', () => {
    expect(callOf(worldOf(call({ tool: 'svc.tools.list' })))?.spec).toMatchObject({
      arguments: '{}',
      subject: 'workflow:w',
      timeout: limits.stateTimeoutDefault,
    });
  });

  it('WF-SYS-06 the answer is its standard output, of which templates read JSON', () => {
    const then = aScript('{{a.output.stdout.summary.ok}} {{a.output.exit_code}}');
    const workflow = aWorkflow('w')
      .state('a', call(restart, { transitions: [{ target: 'b' }] }))
      .state('b', then);
    const world = new World(workflow.build(), { spec: { input: { command: 'x' } } }).settle();
    world.endToolCall({ answer: { content: '{"summary":{"ok":3}}', truncated: false } }).settle();
    expect(world.board()['a']).toMatchObject({ status: 'success', exit_code: 0, stdout: '{"summary":{"ok":3}}' });
    expect(world.planOf('b').argv.at(-1)).toBe('3 0');
  });

  it('says that an answer was cut', () => {
    const world = worldOf(call({ tool: 'web.fetch' }));
    world.endToolCall({ answer: { content: 'x', truncated: true } }).settle();
    expect(world.board()['a']).toMatchObject({ stdout: 'x', stdout_truncated: true, stderr_truncated: false });
  });

  it.each([
    ['ToolFailed', 1, { stderr: 'NOT_FOUND: no host', stdout: '' }],
    ['ToolRefused', -1, { error: expect.stringContaining('ToolRefused: tool call') }],
    ['ToolUnavailable', -1, { error: expect.stringContaining('ToolUnavailable: tool call') }],
    ['OutcomeUnknown', -1, { error: expect.stringContaining('OutcomeUnknown: tool call') }],
  ])('a call that ended with %s has the exit code %i', (reason, exitCode, entry) => {
    const world = worldOf(call({ tool: 'web.fetch' }));
    const content = reason === 'ToolFailed' ? 'NOT_FOUND: no host' : '';
    const answer = { content, truncated: false };
    world.endToolCall({ phase: 'failed', why: { reason, message: 'why' }, answer }).settle();
    expect(lastVisit(world)).toMatchObject({ status: 'failed', reason });
    expect(world.board()['a']).toMatchObject({ status: 'failed', exit_code: exitCode, ...entry });
  });

  it('the outcome of a call that was deleted in mid-call is unknown, and it is not made again', () => {
    const world = worldOf(call({ tool: 'web.fetch' }));
    world.changeToolCall({ phase: 'running', startedAt: world.now }).settle();
    world.toolCalls.clear();
    world.settle();
    expect(lastVisit(world)).toMatchObject({ reason: 'OutcomeUnknown', message: expect.stringContaining('deleted') });
    expect(world.toolCalls.size).toBe(0);
  });

  it('a visit that comes again makes another call', () => {
    const again = [{ condition: 'on_failure' as const, target: 'a' }];
    const world = worldOf(call({ tool: 'web.fetch' }, { transitions: again }));
    world.endToolCall({ phase: 'failed', why: { reason: 'ToolFailed', message: '' } }).settle();
    expect([...world.toolCalls.values()].map(({ madeBy }) => madeBy.visit)).toEqual([1, 2]);
  });
});

describe('the end of a call that runs', () => {
  const running = (more: object = {}): World => {
    const world = worldOf(call({ tool: 'web.fetch' }, more));
    return world.changeToolCall({ phase: 'running', startedAt: world.now }).settle();
  };

  it('its state has the default timeout from its start, and cancels it then', () => {
    const world = running();
    world.pass(5_000).settle().wake().settle();
    expect(lastVisit(world)).toMatchObject({ reason: 'StateTimeout' });
    expect(callOf(world)?.cancelled).toBe(true);
  });

  it('a cancel of the execution cancels it', () => {
    const world = running().cancel('enough').settle();
    expect(world.status.phase).toBe('cancelled');
    expect(callOf(world)?.cancelled).toBe(true);
  });

  it('one that says itself that its time is over is a timeout of the state', () => {
    const world = running();
    world.endToolCall({ phase: 'failed', why: { reason: 'Timeout', message: 'late' } }).settle();
    expect(lastVisit(world)).toMatchObject({ reason: 'StateTimeout' });
  });

  it('AMB-190 one that no replica of the API takes never started', () => {
    const world = worldOf(call({ tool: 'web.fetch' }, { queue_timeout: '30s' }));
    world.wake().settle();
    expect(world.status.current?.waiting).toMatchObject({ reason: 'WaitingForTool' });
    world.wake().settle();
    expect(lastVisit(world)).toMatchObject({ reason: 'NeverStarted', message: expect.stringContaining('event bus') });
    expect(callOf(world)?.cancelled).toBe(true);
  });
});

describe('hostile calls', () => {
  const input = { v: '","command":"rm -rf /","x":"', name: 'svc.workflow.delete' };

  it('a value cannot change the form of arguments that are JSON as they are written', () => {
    const source = '{"a":"{{input.v}}","list":[1,true,null,{"b":"{{input.v}}"}]}';
    const world = worldOf(call({ tool: 'web.fetch', arguments: source }), { spec: { input } });
    expect(argumentsOf(world)).toEqual({ a: input.v, list: [1, true, null, { b: input.v }] });
  });

  it('a text that is JSON only when it is rendered takes values by the helper json', () => {
    const world = worldOf(call({ tool: 'web.fetch', arguments: '{"all":{{json input}}}' }), { spec: { input } });
    expect(argumentsOf(world)).toEqual({ all: input });
  });

  it.each([
    ['a tool by a template', { tool: '{{input.name}}' }, 'tool must be the name of a tool as it is'],
    ['a context by a template', { tool: 'x', security_context: '{{input.name}}' }, 'security_context must be'],
    ['no tool', {}, 'tool is missing'],
    ['another field', { tool: 'x', command: 'ls' }, 'command is unknown to call_tool'],
    ['arguments that are a list', { tool: 'x', arguments: '[{{json input.v}}]' }, 'not the JSON text of one object'],
    ['arguments that are no JSON', { tool: 'x', arguments: '{{input.v}}' }, 'not the JSON text of one object'],
  ])('%s fails the state, and nothing is called', (_what, env, problem) => {
    const world = worldOf(call(env as Record<string, string>), { spec: { input } });
    expect(world.toolCalls.size).toBe(0);
    expect(lastVisit(world)).toMatchObject({ reason: 'InvalidToolCall', message: expect.stringContaining(problem) });
  });

  it.each([
    [limits.toolCallArgumentsBytes - 1, true],
    [limits.toolCallArgumentsBytes, true],
    [limits.toolCallArgumentsBytes + 1, false],
    [1024 * 1024, false],
  ])('arguments of %i bytes are called: %s', (bytes, isMade) => {
    const text = 'x'.repeat(bytes - '{"a":""}'.length);
    const world = worldOf(call({ tool: 'web.fetch', arguments: '{"a":"{{input.text}}"}' }), {
      spec: { input: { text } },
    });
    expect([world.toolCalls.size, lastVisit(world)?.reason]).toEqual(isMade ? [1, undefined] : [0, 'InvalidToolCall']);
  });

  it.each(
    ['<', '>', '&'].flatMap((char) => [
      [char, 0, true],
      [char, 1, false],
    ]),
  )('arguments full of %s are counted as the API server stores them: with %i bytes too many made %s', (...row) => {
    const [char, over, isMade] = row as [string, number, boolean];
    // As a text in an object: quotes around it, and a mark before each of its own.
    const room = limits.toolCallArgumentsStoredBytes - '"{\\"a\\":\\"\\"}"'.length + over;
    const text = char.repeat(Math.floor(room / 6)) + 'x'.repeat(room % 6);
    const world = worldOf(call({ tool: 'web.fetch', arguments: '{"a":"{{input.text}}"}' }), {
      spec: { input: { text } },
    });
    expect([world.toolCalls.size, lastVisit(world)?.reason]).toEqual(isMade ? [1, undefined] : [0, 'InvalidToolCall']);
  });

  it('an answer of many bytes is in the output store, and the status stays small', () => {
    const world = worldOf(call({ tool: 'web.fetch' }));
    const content = 'y'.repeat(limits.toolCallResultBytes - 2);
    world.endToolCall({ answer: { content, truncated: true } }).settle();
    expect(JSON.stringify(world.status).length).toBeLessThan(16 * 1024);
    expect(world.board()['a']).toMatchObject({ stdout: content });
  });
});
