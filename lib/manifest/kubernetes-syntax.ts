const word = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
const domainPart = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;
const domainLength = 253;

/** Whether Kubernetes takes a text as the key of a label or annotation: a word, with a domain and `/` before it if wanted. */
export function isMetadataKey(key: string): boolean {
  const [last = '', domain, ...more] = key.split('/').toReversed();
  if (!word.test(last) || more.length > 0) return false;
  return (
    domain === undefined || (domain.length <= domainLength && domain.split('.').every((part) => domainPart.test(part)))
  );
}

/** Whether Kubernetes takes a text as the value of a label. */
export const isLabelValue = (value: string): boolean => value === '' || word.test(value);

/** The domain of a key; empty for a key without one. */
export const domainOf = (key: string): string => (key.includes('/') ? key.slice(0, key.indexOf('/')) : '');
