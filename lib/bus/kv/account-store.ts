import type { JetStreamManager, StoredMsg } from '@nats-io/jetstream';
import type { Clock } from '../../clock.ts';
import { type AccountStore, blockUseMs } from './key-accounts.ts';
import type { BucketDefinition } from './bucket-definition.ts';
import { noneIfAbsent, readDirect } from '../direct-batch.ts';
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
    async untilEnded(tenant, blocks) {
      const oldest = await oldestOf(direct, { name, subject: accountSubject(definition, tenant) }, blocks);
      const taken = oldest?.time.getTime() ?? clock.now();
      return Math.max(0, taken + definition.ttlMs + blockUseMs - clock.now());
    },
    async add(tenant) {
      await publisher.publish({ subject: accountSubject(definition, tenant), body: '', headers: {} });
    },
  };
}

/** Messages of one request. */
const batchMost = 500;

/** The oldest message of a subject but so many; where it has fewer, its newest. */
async function oldestOf(
  direct: Pick<JetStreamManager['direct'], 'getBatch'>,
  { name, subject }: { readonly name: string; readonly subject: string },
  place: number,
): Promise<StoredMsg | undefined> {
  let last: StoredMsg | undefined;
  for (let left = place; left > 0; ) {
    const query = { seq: (last?.seq ?? 0) + 1, batch: Math.min(left, batchMost), next_by_subj: subject };
    const found = await readDirect(direct, name, query).catch(noneIfAbsent);
    last = found.at(-1) ?? last;
    left -= found.length;
    if (found.length < query.batch) break;
  }
  return last;
}
