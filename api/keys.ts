import { readFileSync } from 'node:fs';
import { loadSealKey, type SealKey } from '../lib/envelope/index.ts';
import { loadEdgeKey } from '../lib/keys/edge-key.ts';
import type { KeyPair } from '../lib/keys/private-key.ts';
import { publishPublicKeys } from '../lib/keys/public-keys.ts';
import type { ApiDeps } from './api-deps.ts';

/** The keys of the installation that the API holds. */
export interface Keys {
  readonly seal: SealKey;
  /** Absent: hosts can be neither enrolled nor commanded. */
  readonly edge: KeyPair | undefined;
}

/** @throws ConfigError where a setting names a file that holds no key. */
export function loadKeys({ config, logger }: ApiDeps): Keys {
  const readFile = (path: string): string => readFileSync(path, 'utf8');
  return { seal: loadSealKey(config, readFile, logger), edge: loadEdgeKey(config, readFile) };
}

/** Writes the public halves for gateway and relay; a key of this process alone is of use to no other process. */
export async function publishKeys(deps: ApiDeps, { seal, edge }: Keys, stop: AbortSignal): Promise<void> {
  if (deps.config.WINDLASS_SEAL_KEY === undefined) return;
  const namespace = deps.config.WINDLASS_SYSTEM_NAMESPACE;
  const keys = { seal: seal.publicKey, ...(edge && { edge: edge.publicKey }) };
  await publishPublicKeys({ ...deps, namespace }, keys, stop);
}
