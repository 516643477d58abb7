import { expect, it } from 'vitest';
import { toGrpcFailure } from '../../../lib/grpc/grpc-error.ts';
import { toErrorReply } from '../../../lib/http/error-reply.ts';
import { ingestFailure } from '../../grpc/ingest-stimulus.ts';
import { IngestError } from '../../ingest/ingest-error.ts';
import { answer } from './answer.ts';

it.each<[whose: string, cause: Error | undefined]>([
  ['ours is a fault, whose cause the log has', new Error('a missing right')],
  ["the tenant's is none", undefined],
])('STIM-34 a workflow_error that is %s', async (_whose, cause) => {
  const error = new IngestError('workflow_error', 'the sentence', { cause });
  const answered: unknown = await answer(Promise.reject(error)).catch((refused: unknown) => refused);
  expect(toErrorReply(answered)).toMatchObject({
    status: 500,
    body: { error: 'workflow_error', message: 'the sentence' },
    isFault: cause !== undefined,
  });
  expect((answered as Error).cause).toBe(cause);
  const failure = ingestFailure(error);
  expect(toGrpcFailure(failure)).toMatchObject({ details: 'the sentence', isFault: cause !== undefined });
  expect((failure as Error).cause).toBe(cause);
});
