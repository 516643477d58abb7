import { describe, expect, it } from 'vitest';
import { complete } from './complete.ts';
import { launchNothing } from './launch.ts';
import { createProgram } from './program.ts';

const program = createProgram(launchNothing);
const at = (...typed: string[]) => complete(program, typed);

describe('completion', () => {
  it('names the commands, and no hidden one', () => {
    expect(at('').words).toContain('run');
    expect(at('').words).not.toContain('__complete');
    expect(at('workflow', '').words).toContain('register');
    expect(at('wf', '').words).toContain('register');
  });

  it.each<[title: string, typed: string[], want: string]>([
    ['an execution', ['get', ''], 'execution'],
    ['the execution of logs', ['logs', ''], 'execution'],
    ['its state after that', ['logs', 'demo-1', ''], 'state'],
    ['a workflow to run', ['run', ''], 'workflow'],
    ['after an option with its value', ['run', '--input', 'a=1', ''], 'workflow'],
    ['after an option with an equals sign', ['run', '--input=a=1', ''], 'workflow'],
    ['after an option without a value', ['run', '--watch', ''], 'workflow'],
    ['the value of an option', ['run', 'hello', '-n', ''], 'namespace'],
    ['a state for a decision', ['approve', 'demo-1', '--state', ''], 'state'],
    ['the state that a retry begins in', ['retry', 'demo-1', '--from', ''], 'state'],
    ['a tenant to delete', ['tenant', 'delete', ''], 'tenant'],
  ])('asks the cluster for %s', (_title, typed, want) => {
    expect(at(...typed).names).toBe(want);
  });

  it('offers choices, files and options', () => {
    expect(at('list', '--phase', '').words).toContain('waiting');
    expect(at('-o', '').words).toEqual(['json', 'yaml', 'wide', 'name']);
    expect(at('completion', '').words).toEqual(['bash', 'zsh', 'fish']);
    expect(at('run', '--input-file', '').files).toBe(true);
    expect(at('wait', '--').words).toEqual(expect.arrayContaining(['--timeout', '--for', '--namespace', '--help']));
  });

  it('knows the options before the cursor, so that names come from where they will be used', () => {
    expect(at('-n', 'team', 'get', '').values).toEqual({ namespace: 'team' });
    expect(at('logs', '--context', 'prod', 'demo-1', '')).toMatchObject({
      values: { context: 'prod' },
      before: ['demo-1'],
    });
  });

  it('asks for nothing where the user makes up a name', () => {
    expect(at('tenant', 'create', '')).toMatchObject({ words: [], before: [] });
    expect(at('tenant', 'create', '').names).toBeUndefined();
  });
});
