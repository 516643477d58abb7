import type { JetStreamManager } from '@nats-io/jetstream';
import type { Clock } from '../../clock.ts';
import { type AccountStore, blockUseMs } from './key-accounts.ts';
import type { BucketDefinition } from './bucket-definition.ts';
import type { Publisher } from '../publish/publisher.ts';
import { accountStream, accountSubject } from '../streams.ts';

interface AccountStoreDeps {
  readonly manager: Pick<JetStreamManager, 'streams' | 'direct'>;
  readonly publisher: Publisher;
  readonly clock: Clock;
}

/** Blocks as messages of a stream, under a subject for each tenant. The server counts them and lets them end. */
export function createAccountStore(
  { manager: { streams, direct }, publisher, clock }: AccountStoreDeps,
  definition: BucketDefinition,
): AccountStore {
  const { name } = accountStream(definition, 1);
  return {
    async count(tenant) {
      const subject = accountSubject(definition, tenant);
      const { state } = await streams.info(name, { subjects_filter: subject });
      return { all: state.messages, own: state.subjects?.[subject] ?? 0 };
    },
    async untilFirstEnds(tenant) {
      const oldest = await direct.getMessage(name, { seq: 1, next_by_subj: accountSubject(definition, tenant) });
      const taken = oldest?.time.getTime() ?? clock.now();
      return Math.max(0, taken + definition.ttlMs + blockUseMs - clock.now());
    },
    async add(tenant) {
      await publisher.publish({ subject: accountSubject(definition, tenant), body: '', headers: {} });
    },
  };
}
