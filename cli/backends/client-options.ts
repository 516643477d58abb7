import type { ClientOptions } from '../../client/index.ts';
import manifest from '../../package.json' with { type: 'json' };
import type { Terminal } from '../terminal.ts';

/** Pauses of one call together: a person waits for it. */
const patienceMs = 10_000;

/** Options of each client of `windlass`. A call that is repeated says so at once, and each reason once in a row. */
export function clientOptions(
  terminal: Pick<Terminal, 'note'>,
): Required<Pick<ClientOptions, 'headers' | 'onRetry' | 'patienceMs'>> {
  let said = '';
  return {
    headers: { 'user-agent': `windlass-cli/${manifest.version}` },
    patienceMs,
    onRetry({ message }) {
      if (message !== said) terminal.note(`warning: ${message}; trying again`);
      said = message;
    },
  };
}
