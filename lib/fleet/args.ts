import { limits } from '../../crds/limits.ts';
import { AppError } from '../errors.ts';
import { isTooDeep, NestedTooDeep } from '../nesting.ts';

/** @throws AppError for arguments that are larger than each host is sent, or that are nested deeper than a host takes. */
export function checkArgs(args: unknown): void {
  // Before the text is made: no process can write some thousand levels.
  if (isTooDeep(args)) throw new NestedTooDeep('args:');
  const bytes = Buffer.byteLength(JSON.stringify(args ?? {}));
  if (bytes <= limits.fleetArgsBytes) return;
  const message = `args: has ${bytes} bytes of JSON; at most ${limits.fleetArgsBytes} are allowed`;
  throw new AppError('invalid', message, { reason: 'ArgumentsTooLarge' });
}
