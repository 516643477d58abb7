import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { type Static, Type } from 'typebox';
import { ConfigError, type Environment } from '../config.ts';
import type { Logger } from '../logger.ts';
import { readSecretFile } from './key-reference.ts';
import { emptyNodeConfig, type NodeConfig, type NodeConfigWarning } from './node-config.ts';
import { type KeyReader, readNodeConfig } from './read-node-config.ts';
import { nodeConfigLimits } from './schema.ts';

/** Environment variables of the node configuration, the same for every process that reads it. */
export const nodeConfigVariables = {
  /** Path of the file; unset: an installation without models. */
  WINDLASS_NODE_CONFIG: Type.Optional(Type.String({ minLength: 1 })),
  /** Folder with one folder for each Secret that `secret:NAME/KEY` may name. */
  WINDLASS_NODE_SECRETS: Type.Optional(Type.String({ minLength: 1 })),
  /** Whether keys that the file itself holds are refused (requirements AMB-201). */
  WINDLASS_REQUIRE_KEY_REFERENCES: Type.Boolean({ default: false }),
};

const NodeConfigVariables = Type.Object(nodeConfigVariables);

/**
 * The node configuration of this process, read once when it starts (requirements LLM-17, LLM-19). `env` is the whole
 * environment, for the file names variables of it.
 * @throws ConfigError, which lists every problem with its path and holds no key.
 */
export function loadNodeConfig(
  config: Static<typeof NodeConfigVariables>,
  env: Environment,
  logger: Logger,
  keysOf: KeyReader = 'models',
): NodeConfig {
  const path = config.WINDLASS_NODE_CONFIG;
  if (path === undefined) return emptyNodeConfig;
  const text = readBounded(path);
  const onWarning = ({ path: field, message }: NodeConfigWarning): void =>
    logger.warn({ field, problem: message }, 'node configuration');
  return readNodeConfig(text, env, readSecretFile, { keysOf, onWarning });
}

function readBounded(path: string): string {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    throw new ConfigError([
      { name: 'WINDLASS_NODE_CONFIG', problem: `names a file that cannot be read: ${codeOf(error)}` },
    ]);
  }
  try {
    const { size } = fstatSync(file);
    if (size <= nodeConfigLimits.fileBytes) return readFileSync(file, 'utf8');
    const problem = `names a file of ${size} bytes; at most ${nodeConfigLimits.fileBytes} are read`;
    throw new ConfigError([{ name: 'WINDLASS_NODE_CONFIG', problem }]);
  } finally {
    closeSync(file);
  }
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : 'unknown');
