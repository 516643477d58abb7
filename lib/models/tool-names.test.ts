import { describe, expect, it } from 'vitest';
import { createToolNames } from './tool-names.ts';

const tool = (name: string) => ({ name, description: '', input_schema: {} });
const namesOf = (...names: readonly string[]) => createToolNames(names.map(tool), []);

describe('createToolNames', () => {
  it.each([
    ['fs.read', 'fs_read'],
    ['svc.agent.list', 'svc_agent_list'],
    ['plain-name_1', 'plain-name_1'],
    ['wörter', 'w_rter'],
    ['a'.repeat(64), 'a'.repeat(64)],
    ['a'.repeat(65), 'a'.repeat(64)],
  ])('writes %s as %s, and reads it back', (name, spelling) => {
    const names = namesOf(name);
    expect(names.encode(name)).toBe(spelling);
    expect(names.decode(spelling)).toBe(name);
  });

  it('keeps names apart that providers would write alike', () => {
    const all = ['fs.read', 'fs_read', 'fs-read', 'fs read', `${'a'.repeat(64)}.b`, `${'a'.repeat(64)}.c`];
    const names = namesOf(...all);
    const spellings = all.map((name) => names.encode(name));
    expect(new Set(spellings).size).toBe(all.length);
    expect(spellings.every((each) => /^[A-Za-z0-9_-]{1,64}$/.test(each))).toBe(true);
    expect(spellings.map((spelling) => names.decode(spelling))).toEqual(all);
  });

  it('leaves a name that the model made up, or wrote in our spelling', () => {
    const names = namesOf('fs.read');
    expect(names.decode('made_up')).toBe('made_up');
    expect(names.decode('fs.read')).toBe('fs.read');
  });

  it('knows tools of earlier calls that are no longer offered', () => {
    const call = { id: 'c', name: 'web.fetch', arguments: '{}' };
    const names = createToolNames([tool('fs.read')], [{ role: 'assistant', content: '', tool_calls: [call] }]);
    expect(names.decode('web_fetch')).toBe('web.fetch');
  });
});
