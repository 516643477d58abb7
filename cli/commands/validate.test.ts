import { describe, expect, it } from 'vitest';
import { exitCodes } from '../exit-codes.ts';
import { createLaunch } from '../launch.ts';
import type { CommandWorld } from '../command-context.ts';
import { validateCommand } from './validate.ts';

const group =
  'apiVersion: windlass.dev/v1\nkind: EdgeGroup\nmetadata: { name: web }\nspec: { name: web, selector: {} }\n';
const flow = (name: string, states: string): string =>
  `apiVersion: windlass.dev/v1\nkind: Workflow\nmetadata: { name: ${name}, version: 1.0.0 }\nspec:\n` +
  `  initial_state: start\n  states:\n${states}`;
const end = flow('child', '    start: { kind: System, command: finalize, transitions: [] }\n');
const config = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: c }\n';

/** Exit code, standard output and standard error. */
async function ran(texts: Readonly<Record<string, string>>, ...argv: string[]) {
  const [out, notes]: [string[], string[]] = [[], []];
  let code: number | undefined;
  const world = {
    terminal: { out: (line: string) => out.push(line), note: (line: string) => notes.push(line) },
    files: {
      read: async (path: string) => texts[path] ?? '',
      manifests: async (path: string) => (path === 'dir' ? Object.keys(texts) : [path]),
    },
  } as unknown as CommandWorld;
  const launch = createLaunch(world, (ended) => (code = ended));
  await validateCommand(launch).parseAsync(argv, { from: 'user' });
  return { code, out, notes };
}

describe('windlass validate', () => {
  it('lists what is valid, and passes over what is not of Windlass', async () => {
    const files = { 'a.yaml': `${group}---\n${end}---\n${config}`, 'b.yaml': config };
    expect(await ran(files, 'dir')).toEqual({
      code: exitCodes.ok,
      out: [
        'a.yaml: EdgeGroup web is valid (custom resource form)',
        'a.yaml: Workflow child is valid (manifest form; kubectl takes the custom resource form alone)',
      ],
      notes: [
        'a.yaml: ConfigMap c passed over, it is not of windlass.dev',
        'b.yaml: passed over, there is nothing of windlass.dev in it',
      ],
    });
  });

  it('names file, line, column and field of every problem', async () => {
    const wrong = group.replace('selector: {}', 'pinned: [a]');
    expect(await ran({ 'a.yaml': `${group}---\n${wrong}` }, 'a.yaml')).toMatchObject({
      code: exitCodes.failed,
      out: [expect.stringContaining('is valid'), expect.stringMatching(/^a\.yaml:9:\d+ spec\.pinned: unknown field/)],
      notes: ['error: 1 problem found'],
    });
  });

  it.each(['b.yaml', 'dir'])('a path with nothing of Windlass in it has that as its problem: %s', async (path) => {
    const { code, out } = await ran({ 'b.yaml': config }, path);
    expect([code, out]).toEqual([exitCodes.failed, [`${path}:1:1 there is nothing of windlass.dev in it`]]);
  });

  it('fails on warnings where it is asked to', async () => {
    const doubtful = group.replace('name: web, selector', 'name: yes, selector');
    expect((await ran({ 'a.yaml': doubtful }, 'a.yaml')).code).toBe(exitCodes.ok);
    expect((await ran({ 'a.yaml': doubtful }, 'a.yaml', '--strict')).code).toBe(exitCodes.failed);
  });
});
