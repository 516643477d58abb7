import { limits } from '../../crds/limits.ts';
import { AppError } from '../errors.ts';

/** @throws AppError `invalid` for arguments that are larger than each host is sent. */
export function checkArgs(args: unknown): void {
  const bytes = Buffer.byteLength(JSON.stringify(args ?? {}));
  if (bytes <= limits.fleetArgsBytes) return;
  const message = `args: has ${bytes} bytes of JSON; at most ${limits.fleetArgsBytes} are allowed`;
  throw new AppError('invalid', message, { reason: 'ArgumentsTooLarge' });
}
