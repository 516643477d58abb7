import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { ConfigError } from '../config.ts';

/** An Ed25519 key with its public half. */
export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** The file that a setting names. */
interface KeyFile {
  /** Name of the setting. */
  readonly variable: string;
  readonly path: string;
}

/**
 * The private Ed25519 key of a file, as PEM (PKCS #8).
 * @throws ConfigError where the file cannot be read or holds another thing; the message holds nothing of the file.
 */
export function readKeyPair({ variable, path }: KeyFile, readFile: (path: string) => string): KeyPair {
  const privateKey = privateKeyOf(path, readFile);
  if (privateKey?.asymmetricKeyType === 'ed25519') return { privateKey, publicKey: createPublicKey(privateKey) };
  const problem = 'must name a file that holds a private Ed25519 key as PEM (PKCS #8)';
  throw new ConfigError([{ name: variable, problem }]);
}

function privateKeyOf(path: string, readFile: (path: string) => string): KeyObject | undefined {
  try {
    return createPrivateKey(readFile(path));
  } catch {
    // The reason might hold a part of the file.
    return undefined;
  }
}
