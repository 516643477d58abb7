import { describe, expect, it } from 'vitest';
import { launchNothing } from './launch.ts';
import { createProgram, pathOf, withChildren } from './program.ts';
import { cliReference } from './reference.ts';

const commands = withChildren(createProgram(launchNothing)).filter(({ commands: children }) => children.length === 0);
const own = commands.filter((command) => command.name() !== '__complete' && command.name() !== 'help');

describe('the tree of commands', () => {
  it('has every command of the product', () => {
    expect(own.map(pathOf)).toEqual([
      'windlass validate',
      ...[
        'validate',
        'simulate',
        'register',
        'list',
        'get',
        'versions',
        'delete',
        'promote',
        'demote',
        'kustomize',
        'schema',
        'run',
      ].map((name) => `windlass workflow ${name}`),
      ...['run', 'get', 'list', 'logs', 'approve', 'reject', 'signal', 'approvals', 'cancel'].map(
        (name) => `windlass ${name}`,
      ),
      ...['rerun', 'retry', 'delete', 'wait'].map((name) => `windlass ${name}`),
      ...['validate', 'register', 'list', 'get', 'versions', 'delete'].map((name) => `windlass agent ${name}`),
      ...['run', 'list', 'get', 'logs', 'watch', 'cancel'].map((name) => `windlass exec ${name}`),
      'windlass edge token',
      ...['list', 'get', 'set', 'revoke', 'drain', 'push-config', 'shutdown'].map(
        (name) => `windlass edge hosts ${name}`,
      ),
      ...['list', 'get', 'create', 'delete'].map((name) => `windlass edge groups ${name}`),
      'windlass edge run',
      ...['list', 'get'].map((name) => `windlass edge runs ${name}`),
      'windlass edge cancel',
      'windlass stimulus send',
      ...['list', 'call'].map((name) => `windlass tools ${name}`),
      'windlass gateway register',
      ...['context', 'spec', 'cli-tool', 'workflow'].flatMap((kind) =>
        ['register', 'list', 'get', 'delete'].map((name) => `windlass gateway ${kind} ${name}`),
      ),
      ...['create', 'list', 'revoke'].map((name) => `windlass gateway session ${name}`),
      'windlass gateway call',
      'windlass gateway mcp',
      ...['list', 'verify'].map((name) => `windlass gateway audit ${name}`),
      'windlass convert',
      ...['login', 'logout', 'whoami'].map((name) => `windlass ${name}`),
      ...['create', 'list', 'delete'].map((name) => `windlass tenant ${name}`),
      'windlass completion',
      'windlass version',
    ]);
  });

  it.each(own.map((command) => [pathOf(command), command] as const))('%s says what it does', (_path, command) => {
    expect(command.summary()).not.toBe('');
    expect(command.description()).not.toBe('');
    for (const { description } of command.options) expect(description).not.toBe('');
    for (const { description } of command.registeredArguments) expect(description).not.toBe('');
  });

  it('no command takes an option of its own that every command has', () => {
    const shared = createProgram(launchNothing).options.flatMap(({ short, long }) => [short, long]);
    for (const { options } of own) {
      for (const { short, long } of options) expect(shared.filter(Boolean)).not.toContain(long ?? short);
    }
  });
});

describe('the reference page', () => {
  const page = cliReference();

  it('has a section for every command, with its options and examples', () => {
    for (const command of own) {
      expect(page).toContain(`\n## ${pathOf(command)}\n`);
      for (const { flags } of command.options) expect(page).toContain(`| \`${flags}\` |`);
    }
    expect(page).toContain('windlass run hello --input name=Ada --watch');
  });

  it('lists every exit code, and is the same each time', () => {
    expect(page).toContain('| 130 | interrupted by Ctrl-C; the execution continues |');
    expect(cliReference()).toBe(page);
  });
});
