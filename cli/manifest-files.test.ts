import { describe, expect, it } from 'vitest';
import { isUsable, problemLine, readWorkflowFiles } from './manifest-files.ts';

const good = `apiVersion: windlass.dev/v1
kind: Workflow
metadata: { name: demo, version: 1.0.0 }
spec:
  initial_state: end
  states:
    end: { kind: System, command: finalize, transitions: [] }
`;
const bad = good.replace('initial_state: end', 'initial_state: gone');

async function read(texts: Readonly<Record<string, string>>, paths: readonly string[]) {
  const notes: string[] = [];
  const files = {
    read: async (path: string) => texts[path] ?? '',
    manifests: async (path: string) => (path === 'dir' ? Object.keys(texts) : [path]),
  };
  const found = await readWorkflowFiles({ files, terminal: { note: (line) => void notes.push(line) } }, paths);
  return { found, notes };
}

describe('workflows in files', () => {
  it.each([
    ['kind: Workflow\n', true],
    ['  "kind": "Workflow",', true],
    ["kind: 'Workflow'", true],
    ['kind: WorkflowExecution', false],
    ['kind: ConfigMap', false],
    ['# kind: Workflow', false],
    ['', false],
  ])('%j in a directory means to be a workflow: %s', async (text, want) => {
    const { notes } = await read({ 'dir/a.yaml': text }, ['dir']);
    expect(notes).toHaveLength(want ? 0 : 1);
  });

  it('passes over, with a note, what is only found in a directory and holds none', async () => {
    const { found, notes } = await read({ 'dir/a.yaml': good, 'dir/b.yaml': 'rows: []' }, ['dir']);
    expect(found.map(({ file }) => file)).toEqual(['dir/a.yaml']);
    expect(notes).toEqual(['dir/b.yaml: passed over, there is no Workflow in it']);
  });

  it.each([
    ['an empty directory', {}],
    ['a directory of other things', { 'dir/b.yaml': 'rows: []' }],
  ])('%s has a problem: that nothing was checked', async (_title, texts) => {
    const { found } = await read(texts, ['dir']);
    expect(found).toMatchObject([{ file: 'dir', problems: [{ message: 'there is no workflow in it' }] }]);
    expect(found.every(isUsable)).toBe(false);
  });

  it.each([
    ['a file that was named', { 'b.yaml': 'rows: []' }, 'b.yaml'],
    ['an empty file', { 'b.yaml': '' }, 'b.yaml'],
  ])('%s is checked whatever it holds', async (_title, texts, path) => {
    const { found } = await read(texts, [path]);
    expect(found).toHaveLength(1);
    expect(found.every(isUsable)).toBe(false);
  });

  it('WF-MAN-16 a problem is a line that an editor can jump to', async () => {
    const { found } = await read({ '-': `${good}---\n${bad}` }, ['-']);
    expect(found.map(isUsable)).toEqual([true, false]);
    const lines = found.flatMap(({ file, problems }) => problems.map((problem) => problemLine(file, problem)));
    expect(lines[0]).toMatch(/^<stdin>:13:3 spec\.initial_state: /);
  });

  it('a warning says that it is one', () => {
    const problem = { line: 2, column: 3, path: '', at: [], rule: 'r', message: 'odd', severity: 'warning' as const };
    expect(problemLine('a.yaml', problem)).toBe('a.yaml:2:3 warning: odd');
  });
});
