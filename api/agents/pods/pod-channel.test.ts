import { describe, expect, it } from 'vitest';
import { emptyState } from '../../../lib/conversation/state.ts';
import { type ConversationLog, isMoving } from '../conversation/log.ts';
import { PodChannel } from './pod-channel.ts';

describe('the channel to a pod', () => {
  // A rejection that nothing reads ends the process, and vitest's run with it.
  it('that is left and cancelled before its command is offered rejects once, with the reason of the cancellation', async () => {
    const log = { state: emptyState() } as unknown as ConversationLog;
    const leave = AbortSignal.abort();
    const channel = new PodChannel({ log, leave, newId: () => 'id', tell: () => undefined, isCurrent: () => true });
    const unread: unknown[] = [];
    const hear = (reason: unknown): void => void unread.push(reason);
    process.on('unhandledRejection', hear);
    const plan = { command: 'true', args: [], cwd: '/', env: {}, stdin: '', timeout_seconds: 1 } as never;
    const over = AbortSignal.abort(new Error('cancelled'));
    await expect(channel.dispatch({ callId: 'one', plan, isIdempotent: false }, over)).rejects.toThrow('cancelled');
    await new Promise(setImmediate);
    process.off('unhandledRejection', hear);
    expect(unread).toEqual([]);
  });

  it('that is closed offers no command any more: its caller hears that the conversation moves', async () => {
    const log = { state: emptyState() } as unknown as ConversationLog;
    const leave = new AbortController().signal;
    const channel = new PodChannel({ log, leave, newId: () => 'id', tell: () => undefined, isCurrent: () => true });
    channel.close();
    const offered = channel.dispatch({ callId: 'one', plan: {} as never, isIdempotent: false }, leave);
    await expect(offered).rejects.toSatisfy(isMoving);
  });
});
