import { createPublicKey, type KeyObject } from 'node:crypto';

const block = /-----BEGIN ([A-Z0-9 ]+)-----[^-]*-----END \1-----/g;

/** The public Ed25519 keys of a text with one or more PEM blocks (SPKI); undefined where it has none, or another block. */
export function publicKeysOf(pem: string): KeyObject[] | undefined {
  const blocks = [...pem.matchAll(block)];
  const keys = blocks.flatMap(([text, label]) => (label === 'PUBLIC KEY' ? publicKeyOf(text) : []));
  return keys.length > 0 && keys.length === blocks.length ? keys : undefined;
}

function publicKeyOf(pem: string): KeyObject[] {
  try {
    const key = createPublicKey(pem);
    return key.asymmetricKeyType === 'ed25519' ? [key] : [];
  } catch {
    return [];
  }
}
