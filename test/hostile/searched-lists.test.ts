import { describe, expect, it } from 'vitest';
import type { Agent } from '../../crds/schema/agent.ts';
import { limits } from '../../crds/limits.ts';
import { createAgentRoutes } from '../../api/routes/agents/index.ts';
import { listPage } from '../../api/routes/workflows/list-page.ts';
import { createToolRoutes } from '../../gateway/routes/tools/index.ts';
import { createToolRegistry } from '../../gateway/tools/tool-registry.ts';
import { systemClock } from '../../lib/clock.ts';
import { createSearches } from '../../lib/word-search.ts';
import { createWordMatcher } from '../../lib/word-matcher.ts';
import { anAgent } from '../builders/agent-builder.ts';
import { anEnd, aWorkflow } from '../builders/workflow-builder.ts';
import { echoTool } from '../support/gateway.ts';
import { createServiceToolsWorld } from '../support/service-tools.ts';
import { costRatio } from '../support/processor-time.ts';

/** 36 words that begin alike: a look for one of them compares six characters at each place of a text of the same letter. */
const words = Array.from('bcdefghijklmnopqrstuvwxyz0123456789-', (letter) => `aaaaa${letter}`).join(' ');
/** The words are at its end, and a letter beyond Latin-1 makes each comparison dearer. */
const description = `ā${'a'.repeat(4_094 - words.length)} ${words}`;
/** Words that end with one another, of which many end at each place of the text. */
const nested = Array.from({ length: 21 }, (_, at) => 'a'.repeat(at + 1)).join(' ');
const rows = 100;
const searchesNow = () => createSearches(systemClock);
const named = <Row>(make: (name: string) => Row): Row[] => Array.from({ length: rows }, (_, at) => make(`r-${at}`));

/** Searches of a caller with one page of one row, by place. */
const searches: Readonly<Record<string, (q: string) => Promise<unknown>>> = {
  agents: async (q) => {
    const agents: Agent[] = named((name) => anAgent(name, { description }));
    const cluster = { agents: { list: () => agents }, tenants: { tenantOf: () => 'acme', namespaceOf: () => 'a' } };
    const route = createAgentRoutes({ cluster, searches: searchesNow() } as never).find(
      ({ contract }) => contract.operationId === 'listAgents',
    );
    return route?.handle({ query: { q, limit: 1 }, caller: { tenant: 'acme' } } as never);
  },
  workflows: async (q) => {
    const workflows = named((name) => {
      const workflow = aWorkflow(name).state('end', anEnd()).build();
      return { ...workflow, spec: { ...workflow.spec, description } };
    });
    return listPage(workflows, {
      searches: searchesNow(),
      tenant: 'acme',
      labels: [],
      words: q,
      limit: 1,
      after: undefined,
    });
  },
  'registered tools of the gateway': async (q) => {
    const tools = named((name) => ({ ...echoTool(name), description }));
    const registry = createToolRegistry([{ list: () => tools, find: () => undefined }]);
    const [route] = createToolRoutes({ registry, securityOf: () => ({}), searches: searchesNow() });
    return route?.handle({ caller: { tenant: 'acme' }, query: { q, limit: 1 } } as never);
  },
  'svc.tools.search': async (query) => {
    const tools = named((name) => ({ name, description, input_schema: { type: 'object' } }));
    const world = createServiceToolsWorld({ registered: async () => tools });
    return world.run('svc.tools.search', { query });
  },
  'svc.script.list': async (q) => {
    const scripts = named((name) => ({
      metadata: { name, uid: name, resourceVersion: '1' },
      spec: { name, code: 'x', description },
    }));
    const kube = {
      list: async () => ({ metadata: {}, items: scripts.map(({ metadata }) => ({ metadata })) }),
      get: async (_: unknown, { name }: { readonly name: string }) =>
        scripts.find(({ metadata }) => metadata.name === name),
    };
    return createServiceToolsWorld({ kube: kube as never }).run('svc.script.list', { q });
  },
};

/** Turns of the event loop that others have while something runs. */
async function turnsDuring(run: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let next = setImmediate(function count() {
    turns += 1;
    next = setImmediate(count);
  });
  await run();
  clearImmediate(next);
  return turns;
}

describe('an attacker who fills lists with texts that are dear to search', () => {
  it.each(Object.entries(searches))('lets others have a turn after every few rows of %s', async (_place, search) => {
    expect(words.length).toBeLessThanOrEqual(limits.searchLength);
    expect(await turnsDuring(() => search(words))).toBeGreaterThan(rows / 10);
  });

  it.each([
    ['words that begin alike', words],
    ['a word that is always almost found', `${'a'.repeat(limits.searchLength - 1)}b`],
    ['words that end with one another', nested],
  ])('pays for the texts alone, not for %s', async (_words, query) => {
    const texts = named(() => description);
    const searching = (searched: string) => {
      const isHolding = createWordMatcher(searched);
      return () => texts.filter(isHolding);
    };
    expect(await costRatio(searching(query), searching('zebra'))).toBeLessThan(4);
  });
});
