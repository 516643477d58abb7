import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { dialects, say } from '../../test/support/model-dialects.ts';
import { type ModelServer, openModelServer } from '../../test/support/model-server.ts';
import { AppError } from '../errors.ts';
import { createLogger } from '../logger.ts';
import { readNodeConfig } from '../node-config/index.ts';
import { createModels } from './create-models.ts';
import { modelLimits } from './limits.ts';
import type { ModelRequest } from './models.ts';
import { EndedByUs, OwnFault } from './own-fault.ts';

const key = 'sk-hunter2';

describe.each(dialects.map((dialect) => [dialect.type, dialect] as const))('a question to %s', (type, dialect) => {
  const servers: ModelServer[] = [];
  beforeAll(async () => {
    servers.push(await openModelServer(), await openModelServer());
  });
  afterAll(() => Promise.all(servers.map((server) => server.close())));

  function world(apiKey = key) {
    const lines: string[] = [];
    const registry = new Registry();
    const llm_providers = servers.map(({ url }, index) => ({
      name: `p${index + 1}`,
      type,
      ...(type !== 'ollama' && { api_key: 'env:KEY' }),
      endpoint: `${url}${dialect.base}`,
      models: [{ alias: 'default', model: 'm' }],
    }));
    const spec = { llm_providers, llm_selection: { strategy: 'failover', max_retries: 2 } };
    const destination = { write: (line: string) => void lines.push(line) };
    const logger = createLogger({ level: 'debug', service: 'test', destination });
    const deps = { clock: createManualClock(), logger, random: () => 0, registry };
    const models = createModels(deps, readNodeConfig(JSON.stringify({ spec }), { KEY: apiKey }));
    const ask = (request: Partial<ModelRequest> = {}) =>
      models.ask({
        alias: 'default',
        tenant: 'a',
        messages: [{ role: 'user', content: 'my prompt' }],
        tools: [],
        signal: new AbortController().signal,
        ...request,
      });
    for (const server of servers) server.answerWith(say(dialect, { pieces: ['ok'] }));
    return { ask, lines, registry };
  }

  /** A listener of ours with a bug. */
  const onText = (): never => {
    throw new TypeError('my prompt is not a function');
  };
  const cyclic: Record<string, unknown> = { type: 'object' };
  cyclic['properties'] = cyclic;
  const faults = {
    'in a listener of ours': { onText },
    'before it is sent': { tools: [{ name: 'x', description: 'x', input_schema: cyclic }] },
  };

  it.each(Object.entries(faults))(
    '§11 LLM-16 ends as InternalError at once where a bug is %s',
    async (_where, request) => {
      const { ask, lines, registry } = world();
      const error = await ask(request).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(AppError);
      expect(error).toMatchObject({ code: 'internal', reason: 'InternalError' });
      const { message } = error as AppError;
      expect(message).toMatch(/provider p1, which did not cause it.*logs of the API/);
      expect(servers.map(({ requests }) => requests.length)).toEqual([expect.any(Number), 0]);
      expect(await registry.metrics()).toContain('windlass_model_requests_total{provider="p1",outcome="internal"} 1');
      expect(lines.join('')).toContain('question to a model failed here');
      expect(message + lines.join('')).not.toMatch(/my prompt|is not a function|circular|hunter2/);
    },
  );

  it.each(Object.entries(faults))(
    '§11 LLM-16 leaves the provider open to others after bugs %s',
    async (_where, request) => {
      const { ask } = world();
      for (let count = 0; count <= 2 * modelLimits.breakerFailures; count++)
        await ask({ ...request, tenant: `t${count % 2}` }).catch(() => undefined);
      expect((await ask()).provider).toBe('p1');
    },
  );
});

it.each(['EMFILE', 'ENOBUFS', 'EADDRNOTAVAIL'])('a replica that lacks something of its own says so: %s', (code) => {
  const cause = new TypeError('fetch failed', { cause: Object.assign(new Error('connect 10.0.0.1'), { code }) });
  const error = new EndedByUs('p', new OwnFault(cause));
  expect(error).toMatchObject({ code: 'unavailable', reason: 'ReplicaShort' });
  expect(error.message).toContain(code);
  expect(error.message).not.toContain('10.0.0.1');
});
