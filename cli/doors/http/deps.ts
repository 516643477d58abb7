import type { WindlassClient } from '../../../client/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { DoorWords } from '../door.ts';

export interface HttpDeps {
  readonly client: WindlassClient;
  readonly clock: Clock;
  readonly words: DoorWords;
  /** Whom the server takes the user for: the subject of the token. */
  readonly subject: () => Promise<string>;
}
