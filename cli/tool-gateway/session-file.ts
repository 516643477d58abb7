import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { FilePort } from '../files.ts';
import { CliError } from '../exit-codes.ts';

/** The key that signs calls: a file that its owner alone can read. */
export interface SessionFile {
  readonly gateway: string;
  readonly execution_id: string;
  readonly expires_at: string;
  /** JWT of the session. */
  readonly security_token: string;
  /** Private Ed25519 key, PEM (PKCS #8). */
  readonly private_key: string;
}

/** A session file with its key. Throws a usage error for another file; the message holds nothing of it. */
export async function readSessionFile(
  files: Pick<FilePort, 'read'>,
  path: string,
): Promise<{ readonly session: SessionFile; readonly key: KeyObject }> {
  const session = parsed(await files.read(path));
  if (session !== undefined) return { session, key: ed25519Key(session.private_key, path) };
  const hint = 'Make one: windlass gateway session create EXECUTION --out session.json';
  throw new CliError('usage', `${path} is no file of a session`, hint);
}

function parsed(text: string): SessionFile | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isSessionFile(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const fields = ['gateway', 'execution_id', 'expires_at', 'security_token', 'private_key'];

const isSessionFile = (value: unknown): value is SessionFile =>
  typeof value === 'object' &&
  value !== null &&
  fields.every((field) => typeof Object.getOwnPropertyDescriptor(value, field)?.value === 'string');

/** The private Ed25519 key of a PEM. Throws a usage error that holds nothing of it. */
export function ed25519Key(pem: string, place: string): KeyObject {
  const key = keyOf(pem);
  if (key?.asymmetricKeyType === 'ed25519') return key;
  const hint = 'Make one: openssl genpkey -algorithm ed25519';
  throw new CliError('usage', `${place} holds no private Ed25519 key as PEM (PKCS #8)`, hint);
}

function keyOf(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    // The reason might hold a part of the key.
    return undefined;
  }
}
