const pattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Looks like the uid of an object. */
export function isUid(text: string): boolean {
  return pattern.test(text);
}
