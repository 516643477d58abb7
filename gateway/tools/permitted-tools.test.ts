import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { echoTool } from '../../test/support/gateway.ts';
import { permittedTools } from './permitted-tools.ts';

const tools = Array.from({ length: 1_000 }, (_, index) => echoTool(`t.${index}`));

describe('permittedTools', () => {
  it('tests many tools by many patterns in several turns of the event loop', async () => {
    const turns = new Map<number, number>();
    let turn = 0;
    const isPermitted = (): boolean => {
      turns.set(turn, (turns.get(turn) ?? 0) + 600);
      return false;
    };
    const over = new AbortController();
    const count = async (): Promise<void> => {
      for (; !over.signal.aborted; turn += 1) await setImmediate();
    };
    const counting = count();
    expect(await permittedTools(tools, { patterns: 600, isPermitted })).toEqual([]);
    over.abort();
    await counting;
    expect(turns.size).toBeGreaterThan(40);
    expect(Math.max(...turns.values())).toBeLessThan(12_000);
  });

  it('ends with the last tool that is wanted', async () => {
    const asked: string[] = [];
    const isPermitted = ({ name }: { readonly name: string }): boolean => asked.push(name) % 2 === 0;
    const found = await permittedTools(tools, { patterns: 1, isPermitted, count: 3 });
    expect(found.map(({ name }) => name)).toEqual(['t.1', 't.3', 't.5']);
    expect(asked).toHaveLength(6);
  });
});
