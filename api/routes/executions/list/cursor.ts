import { uidPattern } from '../../../../crds/schema/parts.ts';
import { HttpError } from '../../../../lib/http/index.ts';
import type { ListKey } from './page.ts';

/** The place in a list as text that clients hand back. */
export function encodeCursor({ createdAt, uid }: ListKey): string {
  return Buffer.from(`${createdAt}/${uid}`).toString('base64url');
}

const pattern = new RegExp(`^(\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ)/(${uidPattern.slice(1, -1)})$`);

/** Throws 400 for what `encodeCursor` has not made. */
export function decodeCursor(cursor: string): ListKey {
  const [, createdAt, uid] = pattern.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (createdAt !== undefined && uid !== undefined && encodeCursor({ createdAt, uid }) === cursor) {
    return { createdAt, uid };
  }
  const details = [{ path: 'query.cursor', message: 'is no cursor of this list: give next_cursor as it came' }];
  throw new HttpError({ code: 'invalid', message: 'the cursor is not valid', details });
}
