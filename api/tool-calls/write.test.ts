import { expect, it } from 'vitest';
import type { ToolCall } from '../../crds/schema/tool-call.ts';
import { KubeError } from '../../lib/kube/index.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { failedCall } from './outcome.ts';
import { writeStatus } from './write.ts';

const call = { metadata: { name: 'c', namespace: 'team', uid: 'u1' } } as ToolCall;
const never = new AbortController().signal;
const clock = { ...createManualClock(0), sleep: async () => undefined };

/** Writes to an API server that refuses with `error`; gives how often it was tried, with what. */
async function triesWith(error: KubeError, over: AbortController, overAfter = Number.POSITIVE_INFINITY) {
  const tried: unknown[] = [];
  const jsonPatchStatus = async (_: unknown, _ref: unknown, patch: readonly { readonly value: unknown }[]) => {
    tried.push(patch.at(-1)?.value);
    if (tried.length === overAfter) over.abort();
    throw error;
  };
  const deps = { kube: { jsonPatchStatus } as never, clock, logger: silentLogger };
  const status = { ...failedCall('ToolFailed', 'why'), result: { content: 'answer' } };
  await writeStatus(deps, call, { holder: 'h', status }, { silent: never, over: over.signal });
  return tried;
}

const refusal = (status: number, message: string, reason = '') =>
  new KubeError(status, { message, reason }, { verb: 'patch', resource: 'toolcalls/status' });

it('a status that a proxy refuses in place of the API server is written again', async () => {
  expect(await triesWith(refusal(404, '404 page not found'), new AbortController(), 3)).toHaveLength(14);
});

it.each([0, 1, 40])('tries of a write end soon after its call is over, which is so after %i tries', async (after) => {
  const over = new AbortController();
  if (after === 0) over.abort();
  const tried = await triesWith(refusal(403, 'no right'), over, after);
  expect(tried).toHaveLength(Math.max(after, 1) + 11);
});

it.each([
  ['too large', refusal(500, 'etcdserver: request is too large'), 2],
  ['a body that is too large', refusal(413, 'limit is 3145728'), 2],
  ['invalid', refusal(422, 'spec.x'), 2],
  ['gone', refusal(404, 'not found', 'NotFound'), 1],
  ['of a call of another replica', refusal(422, 'the server rejected our request due to an error in our request'), 1],
])('a status that is %s is written once more at most', async (_what, error, want) => {
  expect(await triesWith(error, new AbortController())).toHaveLength(want);
});
