/** A shorter secret would take parts out of texts that do not hold it; a secret of so few characters is none. */
const shortest = 8;
const mark = '[secret]';

/**
 * A body without the secrets of the call that it answers, as they were sent and as JSON writes them. Some servers send back
 * what they got, and the caller of a tool never holds a credential (issue 13).
 */
export function withoutSecrets(body: Buffer, secrets: readonly string[]): Buffer {
  const forms = new Set(secrets.filter((secret) => secret.length >= shortest).flatMap(formsOf));
  const found = [...forms].filter((form) => body.includes(form));
  if (found.length === 0) return body;
  // The longest first: one may be a part of another.
  const ordered = found.toSorted((a, b) => b.length - a.length);
  // One byte is one character, so that a body that is no UTF-8 stays what it is.
  const text = ordered.reduce((rest, form) => rest.replaceAll(latin1(form), mark), body.toString('latin1'));
  return Buffer.from(text, 'latin1');
}

const latin1 = (text: string): string => Buffer.from(text).toString('latin1');

const formsOf = (secret: string): string[] => {
  const json = JSON.stringify(secret).slice(1, -1);
  return [secret, json, json.replaceAll('/', String.raw`\/`)];
};
