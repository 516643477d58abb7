import { expect, it } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { createSearches } from '../../../lib/word-search.ts';
import { echoTool } from '../../../test/support/gateway.ts';
import { createToolRegistry } from '../../tools/tool-registry.ts';
import { createToolRoutes } from './index.ts';

it('GW-OP-20 the unified list says of a tool that the controllers refuse why, and of others nothing', async () => {
  const tools = [echoTool('orders.get'), { ...echoTool('orders.put'), notReady: 'InvalidDefinition: steps' }];
  const registry = createToolRegistry([{ list: () => tools, find: () => undefined }]);
  const [route] = createToolRoutes({
    registry,
    securityOf: () => ({}),
    searches: createSearches(systemClock),
  });
  const reply = await route?.handle({ caller: { tenant: 'acme' }, query: { limit: 10 } } as never);
  const { items } = (reply as { readonly value: { readonly items: readonly object[] } }).value;
  expect(items[0]).not.toHaveProperty('not_ready');
  expect(items).toMatchObject([{ name: 'orders.get' }, { name: 'orders.put', not_ready: 'InvalidDefinition: steps' }]);
});
