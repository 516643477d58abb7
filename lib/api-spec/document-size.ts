import { limits } from '../../crds/limits.ts';
import { AppError } from '../errors.ts';

/** Refuses a document that is larger than any is taken; the bytes are those of its UTF-8 text. */
export function checkDocumentSize(bytes: number): void {
  if (bytes <= limits.apiDocumentBytes) return;
  throw new AppError('invalid', `the document has ${bytes} bytes; at most ${limits.apiDocumentBytes} are taken`, {
    reason: 'DocumentTooLarge',
  });
}

/** Refuses a document for which a tenant has no room: `kept` and `added` are compressed bytes beside the objects. */
export function checkTenantRoom(kept: number, added: number): void {
  const all = kept + added;
  if (all <= limits.apiDocumentsTenantBytes) return;
  throw new AppError(
    'limit_exceeded',
    `the documents of this tenant would take ${all} bytes; at most ${limits.apiDocumentsTenantBytes} are kept`,
    { reason: 'DocumentsTooLarge' },
  );
}
