import { type Static, Type } from 'typebox';
import { type KeyPair, readKeyPair } from './private-key.ts';

/** The key that signs enrollment tokens and the tokens of edge commands; API and controllers share it. */
export const edgeKeyVariables = {
  /** File with a private Ed25519 key as PEM (PKCS #8); unset: hosts cannot be enrolled or commanded. */
  WINDLASS_EDGE_KEY: Type.Optional(Type.String({ minLength: 1 })),
} as const;
const EdgeKeyConfig = Type.Object(edgeKeyVariables);
type EdgeKeyConfig = Readonly<Static<typeof EdgeKeyConfig>>;

/**
 * The edge key of the settings; undefined where they name none.
 * @throws ConfigError where the file cannot be read or holds another thing.
 */
export function loadEdgeKey(config: EdgeKeyConfig, readFile: (path: string) => string): KeyPair | undefined {
  const { WINDLASS_EDGE_KEY: path } = config;
  return path === undefined ? undefined : readKeyPair({ variable: 'WINDLASS_EDGE_KEY', path }, readFile);
}
