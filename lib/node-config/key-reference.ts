import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Place } from '../../crds/problem.ts';
import type { Environment } from '../config.ts';
import { nodeConfigLimits } from './schema.ts';
import { Secret } from './secret.ts';

/** Gives the text of a file. It may throw; the reason is not shown, for it might hold a part of the file. */
export type ReadSecret = (path: string) => string;

/** Reads a mounted key. @throws Error where there is none, or where it is far larger than any key. */
export const readSecretFile: ReadSecret = (path) => {
  if (statSync(path).size > nodeConfigLimits.keyLength) throw new Error('too large');
  return readFileSync(path, 'utf8');
};

/** Where references of the file lead to. */
export interface KeySources {
  readonly env: Environment;
  readonly readSecret: ReadSecret;
}

/** Where a finding about a key is noted. Neither list ever holds a key. */
export interface KeyFindings {
  problem(at: Place, message: string): void;
  warning(at: Place, message: string): void;
}

const variablePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;
const secretPattern = /^([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)\/([A-Za-z0-9_-][A-Za-z0-9._-]{0,252})$/;
/** A key travels in a header, where nothing else is allowed. */
const keyPattern = /^[\x21-\x7e]+$/;

type Read = { readonly value: string } | { readonly problem: string };

/**
 * The key that a field names: `env:VARIABLE`, `secret:NAME/KEY`, or the key itself (requirements LLM-05, LLM-17,
 * AMB-201). Undefined where the field is absent, or where there is a problem, which is noted.
 */
export function resolveKey(
  text: string | undefined,
  at: Place,
  sources: KeySources,
  findings: KeyFindings,
): Secret | undefined {
  if (text === undefined) return undefined;
  const read = readReference(text, sources) ?? readLiteral(text, at, sources, findings);
  if ('problem' in read) {
    findings.problem(at, read.problem);
    return undefined;
  }
  const value = read.value.trim();
  if (keyPattern.test(value) && value.length <= nodeConfigLimits.keyLength) return new Secret(value);
  const bound = `1 to ${nodeConfigLimits.keyLength} printable ASCII characters without blanks`;
  findings.problem(at, `the key that it names must have ${bound}`);
  return undefined;
}

/** Undefined where the text is no reference. */
function readReference(text: string, sources: KeySources): Read | undefined {
  if (text.startsWith('env:')) return readVariable(text.slice('env:'.length), sources);
  return text.startsWith('secret:') ? readMounted(text.slice('secret:'.length), sources) : undefined;
}

function readVariable(name: string, { env }: KeySources): Read {
  if (!variablePattern.test(name)) return { problem: 'must name a variable after env:, as env:OPENAI_API_KEY' };
  const value = env[name];
  if (value !== undefined && value !== '') return { value };
  return { problem: `the variable ${name} is not set; set it, or name another one` };
}

function readMounted(path: string, { env, readSecret }: KeySources): Read {
  const match = secretPattern.exec(path);
  if (match?.[1] === undefined || match[2] === undefined) {
    return { problem: 'must name a Secret and its key after secret:, as secret:model-keys/openai' };
  }
  const folder = env.WINDLASS_NODE_SECRETS;
  if (folder === undefined || folder === '') {
    return { problem: 'names a Secret, and WINDLASS_NODE_SECRETS does not say where Secrets are mounted' };
  }
  try {
    return { value: readSecret(join(folder, match[1], match[2])) };
  } catch {
    return { problem: `the Secret ${match[1]} with the key ${match[2]} is not mounted, or cannot be read` };
  }
}

function readLiteral(text: string, at: Place, { env }: KeySources, findings: KeyFindings): Read {
  if (env.WINDLASS_REQUIRE_KEY_REFERENCES === 'true') {
    return { problem: 'must be a reference, env:VARIABLE or secret:NAME/KEY: this installation takes no literal keys' };
  }
  findings.warning(at, 'holds the key itself; write env:VARIABLE or secret:NAME/KEY instead');
  return { value: text };
}
