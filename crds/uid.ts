/** The uid of a Kubernetes object. */
export const uidPattern = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$';

const pattern = new RegExp(uidPattern);

/** Looks like the uid of an object. */
export function isUid(text: string): boolean {
  return pattern.test(text);
}
