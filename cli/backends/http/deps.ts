import type { WindlassClient } from '../../../client/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { BackendWords } from '../backend.ts';

export interface HttpDeps {
  readonly client: WindlassClient;
  readonly clock: Clock;
  readonly words: BackendWords;
  /** The user as the server identifies them: the subject of the token. */
  readonly subject: () => Promise<string>;
}
