import type { Problem } from '../../crds/problem.ts';
import { createValidator, type Validator } from '../../crds/validators.ts';
import { ConfigError } from '../../lib/config.ts';
import { readDocuments } from '../../lib/manifest/yaml-document.ts';
import { LocalConfig, SharedConfig } from './schema.ts';

/** Problems that one error lists. */
const problemsShown = 20;

const isLocal = createValidator(LocalConfig);
const isShared = createValidator(SharedConfig);

/** The configuration of the machine's owner, from YAML or JSON. @throws ConfigError, which lists every problem. */
export function readLocalConfig(text: string): LocalConfig {
  return text.trim() === '' ? {} : (checked(parse(text), isLocal) as LocalConfig);
}

/** The parts that a PushConfig may change, after the change. @throws ConfigError */
export const checkShared = (value: unknown): SharedConfig => checked(value, isShared) as SharedConfig;

/** One YAML or JSON document. @throws ConfigError */
export function parse(text: string): unknown {
  const [document, second] = readDocuments(text);
  if (document === undefined) throw whole('is empty; it must hold a map');
  if (second !== undefined) throw whole('has more than one YAML document; keep one');
  if (document.problems.length === 0) return document.value;
  throw new ConfigError(
    document.problems.slice(0, problemsShown).map(({ line, column, message }) => ({
      name: `configuration, line ${line}, column ${column}`,
      problem: message,
    })),
  );
}

function checked(value: unknown, validate: Validator): unknown {
  const problems: readonly Problem[] = validate(value);
  if (problems.length === 0) return value;
  throw new ConfigError(
    problems.slice(0, problemsShown).map(({ path, message }) => ({ name: path || 'configuration', problem: message })),
  );
}

export const whole = (problem: string): ConfigError => new ConfigError([{ name: 'configuration', problem }]);
