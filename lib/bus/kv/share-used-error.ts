import { AppError } from '../../errors.ts';

/** One tenant has as many keys in a bucket as it may have beside the others. */
export class ShareUsedError extends AppError {
  override readonly name = 'ShareUsedError';
  /** When the first of its keys ends. */
  readonly retryAfterMs: number;

  /** `holds`: the entries of the bucket. Default: idempotency keys. */
  constructor(retryAfterMs: number, holds?: string) {
    const message =
      holds === undefined
        ? 'this tenant has its share of all idempotency keys; send without one, or wait until the first ends'
        : `this tenant has its share of all ${holds} (nats.keys.maxMb); wait until the first ends`;
    super('limit_exceeded', message, { reason: 'KeyShareUsed' });
    this.retryAfterMs = retryAfterMs;
  }
}
