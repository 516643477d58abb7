import { afterEach, expect, it, vi } from 'vitest';
import { createRegisteredTools } from '../../api/agents/registered/registered-tools.ts';
import { serveRegisteredTools } from '../../gateway/tools/serve-registered.ts';
import { AppError } from '../../lib/errors.ts';
import { executionOf, replyOf, SharedExecutions, specOf } from '../agents/replica.ts';
import { useReplicas } from '../agents/replicas.ts';
import { silentLogger } from '../support/silent-logger.ts';

const replicas = useReplicas();
let gateway = new AbortController();
afterEach(() => gateway.abort());

const message = 'spec.security.context: there is no SecurityContext desk in the namespace, and no shared one; make it';

/** A gateway that has not read, or no longer has, the context `desk`, and a replica whose cache has it. */
function world(name: string, isThere: () => boolean) {
  gateway = new AbortController();
  const bus = replicas.connect();
  const reads = { anew: 0, ofGateway: 0 };
  const securityOf = () => {
    reads.ofGateway += 1;
    return isThere() && reads.ofGateway > 1 ? {} : undefined;
  };
  void serveRegisteredTools({ bus, registry: { list: () => [] } as never, securityOf }, gateway.signal);
  const shared = new SharedExecutions();
  const spec = specOf({ tools: [{ name: 'crm.*' }] as never, security: { context: 'desk' } });
  const definitionOf = async (_execution: unknown, anew?: 'anew') => {
    if (anew !== undefined) reads.anew += 1;
    if (anew === undefined || isThere()) return { spec, security: {} };
    throw new AppError('not_found', message, { reason: 'SecurityContextNotFound' });
  };
  const call = async () => ({ content: '', isError: false });
  const registered = createRegisteredTools({ bus, logger: silentLogger, call });
  replicas.start({ bus, shared, ask: async () => replyOf('done'), registered, definitionOf });
  shared.put(executionOf(name));
  return { shared, reads };
}

const outcomeOf = async (shared: SharedExecutions) => {
  await vi.waitFor(() => expect(shared.outcomes).toHaveLength(1), { timeout: 60_000, interval: 20 });
  return shared.outcomes[0];
};

it('a conversation whose SecurityContext was deleted and stays so ends within seconds, and names it and the fix', {
  timeout: 90_000,
}, async () => {
  const { shared } = world('deleted', () => false);
  expect(await outcomeOf(shared)).toMatchObject({ phase: 'failed', reason: 'SecurityContextNotFound', message });
});

it('a conversation waits for a gateway that is yet to read a SecurityContext that is there', {
  timeout: 60_000,
}, async () => {
  const { shared, reads } = world('late', () => true);
  expect(await outcomeOf(shared)).toMatchObject({ phase: 'completed' });
  expect(reads.anew).toBeGreaterThan(0);
});
