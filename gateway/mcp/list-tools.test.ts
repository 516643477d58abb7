import { describe, expect, it } from 'vitest';
import { countedNames } from '../../test/support/counted-names.ts';
import { echoTool } from '../../test/support/gateway.ts';
import { sealSession } from '../../test/support/seal-session.ts';
import { createContainerSource } from '../tools/container-source.ts';
import { createToolRegistry } from '../tools/tool-registry.ts';
import { listTools, mcpLimits } from './list-tools.ts';

const session = sealSession();

/** Sizes of all pages of so many tools, whose descriptions have so many bytes; and how many names came. */
async function pages(count: number, bytes: number): Promise<{ sizes: number[]; names: number }> {
  const tools = Array.from({ length: count }, (_, index) => ({
    ...echoTool(`t.${String(index).padStart(6, '0')}`),
    description: 'x'.repeat(bytes),
  }));
  const registry = createToolRegistry([{ list: () => tools, find: () => undefined }]);
  const deps = { registry, securityOf: () => ({}) };
  const [sizes, names] = [[] as number[], new Set<string>()];
  let cursor: string | undefined;
  do {
    const page = await listTools(deps, session, cursor);
    sizes.push(page.tools.length);
    for (const { name } of page.tools) names.add(name);
    cursor = page.nextCursor;
  } while (cursor !== undefined && sizes.length < 1_000);
  return { sizes, names: names.size };
}

describe('a list of tools', () => {
  it('comes in pages of at most so many tools, each tool once', async () => {
    expect(await pages(450, 1)).toEqual({ sizes: [200, 200, 50], names: 450 });
    expect(await pages(0, 1)).toEqual({ sizes: [0], names: 0 });
  });

  it('comes in pages of at most so many bytes, and of one tool that is larger', async () => {
    expect(await pages(9, mcpLimits.pageBytes / 3)).toEqual({ sizes: [2, 2, 2, 2, 1], names: 9 });
    expect(await pages(3, mcpLimits.pageBytes)).toEqual({ sizes: [1, 1, 1], names: 3 });
  });

  it('is empty for a security context that is not there', async () => {
    const registry = createToolRegistry([{ list: () => [echoTool('t')], find: () => undefined }]);
    expect(await listTools({ registry, securityOf: () => undefined }, session, undefined)).toEqual({ tools: [] });
  });

  it('names no tool whose calls the gateway refuses whatever the caller', async () => {
    const refused = { ...echoTool('s'), notReady: 'InvalidDefinition: steps' };
    const callable = { list: () => [refused, echoTool('t')], find: () => undefined };
    const registry = createToolRegistry([createContainerSource(), callable]);
    const { tools } = await listTools({ registry, securityOf: () => ({}) }, session, undefined);
    expect(tools.map(({ name }) => name)).toEqual(['t']);
  });

  it('refuses a cursor that it did not give', async () => {
    const registry = createToolRegistry([]);
    await expect(listTools({ registry, securityOf: () => ({}) }, session, '%')).rejects.toThrow('cursor');
  });

  it('reads the patterns of its session and of its security context once, however many tools there are', async () => {
    const [allowed, tools, deny_list] = [
      ['t.*0', 't.*'],
      ['*.*', 't.7'],
      ['x', 'y.*'],
    ].map(countedNames);
    const all = Array.from({ length: 100 }, (_, index) => echoTool(`t.${index}`));
    const deps = {
      registry: createToolRegistry([{ list: () => all, find: () => undefined }]),
      securityOf: () => ({ tools: tools?.names ?? [], deny_list: deny_list?.names ?? [] }),
    };
    const listed = await listTools(deps, { ...session, allowed_tool_patterns: allowed?.names ?? [] }, undefined);
    expect(listed.tools).toHaveLength(100);
    // Each pattern once, and those of the deny list a second time for their form.
    expect([allowed, tools, deny_list].map((list) => list?.reads())).toEqual([2, 2, 4]);
  });
});
