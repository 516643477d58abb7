import { afterEach, expect, it, vi } from 'vitest';
import type { SecurityContextSpec } from '../../../crds/schema/security-context.ts';
import { systemClock } from '../../../lib/clock.ts';
import { createSealSessions } from '../../../lib/envelope/index.ts';
import { AppError } from '../../../lib/errors.ts';
import { KubeError } from '../../../lib/kube/index.ts';
import type { ModelReply, ModelRequest } from '../../../lib/models/models.ts';
import type { DispatchResult } from '../../../lib/tools/tool.ts';
import { createToolbox } from '../../../lib/tools/toolbox.ts';
import { executionOf, replyOf, SharedExecutions, specOf } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';
import { sealSession } from '../../../test/support/seal-session.ts';
import { createConversationFeed } from '../conversation/live.ts';

const replicas = useReplicas();
/** Lets models of the test answer, for which a replica that stops would wait. */
const held: (() => void)[] = [];
afterEach(() => held.splice(0).forEach((release) => release()));
const never = new AbortController().signal;
const result: DispatchResult = { exit_code: 0, stdout: 'listed', stderr: '', duration_ms: 1, truncated: false };
const until = { timeout: 20_000, interval: 20 };
const spec = specOf({ tools: [{ name: 'cmd', config: { subcommand_allowlist: { ls: [] } } }] });
const ls = [['cmd.run', { command: 'ls' }]] as const;
const narrowed: SecurityContextSpec = { deny_list: ['cmd.run'] };
const content = (text: string) => expect.stringContaining(text) as string;

/** A conversation under a context that `read` answers; its model makes one call after another, each when it is let. */
async function world(uid: string, read: () => SecurityContextSpec) {
  const bus = replicas.connect();
  while (bus.problem() !== undefined) await systemClock.sleep(10);
  await createSealSessions(bus).create({ ...sealSession(), execution_id: uid });
  const shared = new SharedExecutions();
  const asked: ModelRequest[] = [];
  const replies = [Promise.withResolvers<ModelReply>(), Promise.withResolvers<ModelReply>()];
  const ask = (request: ModelRequest): Promise<ModelReply> => {
    asked.push(request);
    return replies[asked.length - 1]?.promise ?? Promise.resolve(replyOf('done'));
  };
  held.push(() => replies.forEach(({ resolve }) => resolve(replyOf('done'))));
  const definitionOf = async () => ({ spec, security: read() });
  const toolbox = createToolbox({ builtin_dispatchers: [] });
  const { drivers } = replicas.start({ bus, shared, ask, toolbox, definitionOf });
  shared.put(executionOf(uid));
  const open = await drivers.open(shared.get(`run-${uid}`), never);
  if (open === undefined) throw new Error('the conversation is not open');
  const feed = createConversationFeed(bus, systemClock);
  return {
    asked,
    open,
    shared,
    /** The model makes its next call. */
    call: (number: number) => replies[number]?.resolve(replyOf('', ls)),
    ends: (count: number) =>
      vi.waitFor(async () => {
        const ended = (await feed.read('acme', uid, 0))
          .map(({ record }) => record)
          .filter((record) => record.kind === 'tool_ended' || record.kind === 'signed_ended');
        expect(ended).toHaveLength(count);
        return ended;
      }, until),
  };
}

it('AMB-195 a SecurityContext that is narrowed refuses the next call of a conversation under way, and offers the tool no more', async () => {
  let security: SecurityContextSpec = {};
  const { asked, open, call, ends, shared } = await world('model', () => security);
  call(0);
  const offered = await open.channel.ask('pod-1', never);
  // Under way: it runs to its end.
  security = narrowed;
  await open.channel.report(offered?.dispatch_id ?? '', result, never);
  call(1);
  expect(await ends(2)).toMatchObject([
    { ran: true, is_error: false, content: content('listed') },
    { ran: false, is_error: true, content: content('ToolNotAllowed') },
  ]);
  await vi.waitFor(() => expect(shared.outcomes).toHaveLength(1), until);
  const isOffered = asked.map(({ tools }) => tools.some(({ name }) => name === 'cmd.run'));
  expect(isOffered).toEqual([true, true, false]);
});

it('AMB-195 so for the next signed call', async () => {
  let security: SecurityContextSpec = {};
  const { open, ends } = await world('signed', () => security);
  await open.signed.take({ call_id: 'first', tool: 'cmd.run', arguments: { command: 'ls' } });
  const offered = await open.channel.ask('pod-1', never);
  security = narrowed;
  await open.channel.report(offered?.dispatch_id ?? '', result, never);
  await open.signed.take({ call_id: 'second', tool: 'cmd.run', arguments: { command: 'ls' } });
  expect(await ends(2)).toMatchObject([
    { call_id: 'first', is_error: false },
    { call_id: 'second', is_error: true, content: content('ToolNotAllowed') },
  ]);
});

it('a context that was deleted and stays so ends the conversation at its next call, which never runs, and refuses a signed call at once', async () => {
  let security: SecurityContextSpec | undefined = {};
  const read = (): SecurityContextSpec => {
    if (security !== undefined) return security;
    throw new AppError('not_found', 'there is no SecurityContext desk', { reason: 'SecurityContextNotFound' });
  };
  const { open, call, ends, shared } = await world('deleted', read);
  security = undefined;
  await open.signed.take({ call_id: 'signed', tool: 'cmd.run', arguments: { command: 'ls' } });
  expect(await ends(1)).toMatchObject([{ is_error: true, content: content('SecurityContextNotFound') }]);
  call(0);
  const ended = () => expect(shared.outcomes).toMatchObject([{ reason: 'SecurityContextNotFound' }]);
  await vi.waitFor(ended, { timeout: 60_000, interval: 20 });
  expect(open.state.underWay).toBeUndefined();
}, 90_000);

it('AMB-195 a context that is deleted and made again lets the next call wait, which is judged by what it says then', async () => {
  let security: SecurityContextSpec | undefined = {};
  let reads = 0;
  const read = (): SecurityContextSpec => {
    if (security !== undefined) return security;
    reads += 1;
    // `kubectl replace --force`: the new one comes between two reads.
    if (reads === 2) security = narrowed;
    throw new AppError('not_found', 'there is no SecurityContext desk', { reason: 'SecurityContextNotFound' });
  };
  const { call, ends, shared } = await world('recreated', read);
  security = undefined;
  call(0);
  expect(await ends(1)).toMatchObject([{ ran: false, content: content('ToolNotAllowed') }]);
  call(1);
  await vi.waitFor(() => expect(shared.outcomes).toMatchObject([{ phase: 'completed' }]), until);
});

it.each([
  ['is away', 503, 'ServiceUnavailable'],
  ['does not know our rights yet', 403, 'Forbidden'],
])('a call waits while the API server %s, and runs then', async (_title, status, reason) => {
  let failures = 0;
  const read = (): SecurityContextSpec => {
    failures -= 1;
    if (failures < 0) return {};
    throw new KubeError(status, { reason, message: 'no' }, { verb: 'get', resource: 'securitycontexts' });
  };
  const { open, call, ends } = await world(`waits-${status}`, read);
  failures = 2;
  call(0);
  const offered = await open.channel.ask('pod-1', never);
  await open.channel.report(offered?.dispatch_id ?? '', result, never);
  expect(await ends(1)).toMatchObject([{ ran: true, is_error: false }]);
  expect(failures).toBeLessThan(0);
});
