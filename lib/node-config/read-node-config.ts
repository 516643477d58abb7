import { formatPlace, type Problem } from '../../crds/problem.ts';
import { createValidator } from '../../crds/validators.ts';
import { ConfigError, type Environment } from '../config.ts';
import { defined } from '../defined.ts';
import { readDocuments } from '../manifest/yaml-document.ts';
import { checkRules } from './check-rules.ts';
import { type KeyFindings, type KeySources, type ReadSecret, readSecretFile, resolveKey } from './key-reference.ts';
import {
  type BuiltinDispatcher,
  emptyNodeConfig,
  type LlmProvider,
  type NodeConfig,
  type NodeConfigWarning,
} from './node-config.ts';
import { NodeConfigFile, type NodeConfigSpec, nodeConfigLimits } from './schema.ts';

/** Problems that one error lists; a reader stops after so many. */
const problemsShown = 100;

const validate = createValidator(NodeConfigFile);

/**
 * Reads the node configuration: one YAML file per installation (spec 1 §2.7). Keys are read once, here, and kept in
 * memory alone. `onWarning` hears of fields that work and had better be changed.
 * @throws ConfigError, which lists every problem with its path and holds no key.
 */
export function readNodeConfig(
  text: string,
  env: Environment,
  readSecret: ReadSecret = readSecretFile,
  onWarning: (warning: NodeConfigWarning) => void = () => undefined,
): NodeConfig {
  const file = parse(text);
  refuse(validate(file));
  // The validator has just said so.
  const { spec } = file as NodeConfigFile;
  const problems = [...checkRules(spec)];
  const findings: KeyFindings = {
    problem: (at, message) => {
      problems.push({ at, path: formatPlace(at), message, rule: 'api_key', severity: 'error' });
    },
    warning: (at, message) => onWarning({ path: formatPlace(at), message }),
  };
  const config = toConfig(spec, { env, readSecret }, findings);
  refuse(problems);
  return config;
}

function parse(text: string): unknown {
  const bytes = Buffer.byteLength(text);
  if (bytes > nodeConfigLimits.fileBytes) {
    throw whole(`has ${bytes} bytes; at most ${nodeConfigLimits.fileBytes} are read`);
  }
  const [document, second] = readDocuments(text);
  if (document === undefined) throw whole('is empty; it must hold a map with the field spec');
  if (second !== undefined) throw whole('has more than one YAML document; keep one');
  if (document.problems.length > 0) {
    throw new ConfigError(
      document.problems.map(({ line, column, message }) => ({
        name: `node configuration, line ${line}, column ${column}`,
        problem: withoutQuotation(message),
      })),
    );
  }
  return document.value;
}

const whole = (problem: string): ConfigError => new ConfigError([{ name: 'node configuration', problem }]);

function refuse(problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  throw new ConfigError(
    problems.slice(0, problemsShown).map(({ path, message, rule }) => ({
      name: path === '' ? 'node configuration' : path,
      problem: rule === 'type' ? withoutValue(message) : message,
    })),
  );
}

/** The YAML library quotes the text behind a colon or at the end, where a key might be. */
const withoutQuotation = (message: string): string => message.replace(/(:| sequence | tag ).*$/s, '');

/** A wrong value may be a key that was written in the wrong place. */
const withoutValue = (message: string): string => message.replace(/, not the (\w+) .*$/s, ', not a $1');

function toConfig(spec: NodeConfigSpec, sources: KeySources, findings: KeyFindings): NodeConfig {
  return {
    llm_providers: toProviders(spec, sources, findings),
    llm_selection: { ...emptyNodeConfig.llm_selection, ...spec.llm_selection },
    builtin_dispatchers: toDispatchers(spec, sources, findings),
    mcp_servers: [],
    runtimes: spec.runtimes ?? [],
    isolation: spec.isolation ?? {},
    prices: spec.prices ?? {},
  };
}

/** Requests that a provider gets at once where its entry says nothing. */
const concurrencyDefault = 16;
/** requirements LLM-12. */
const outputTokensDefault = 8_192;

function toProviders(
  { llm_providers = [] }: NodeConfigSpec,
  sources: KeySources,
  findings: KeyFindings,
): LlmProvider[] {
  return llm_providers.map(({ api_key, endpoint, base_url, models, ...rest }, index) => ({
    max_concurrency: concurrencyDefault,
    ...rest,
    models: models.map((model) => ({ capabilities: [], max_output_tokens: outputTokensDefault, ...model })),
    ...defined({
      endpoint: endpoint ?? base_url,
      api_key: resolveKey(api_key, ['spec', 'llm_providers', index, 'api_key'], sources, findings),
    }),
  }));
}

function toDispatchers(spec: NodeConfigSpec, sources: KeySources, findings: KeyFindings): BuiltinDispatcher[] {
  const { builtin_dispatchers: dispatchers = [] } = spec;
  return dispatchers.map(({ api_key, ...rest }, index) => ({
    capabilities: [],
    ...rest,
    ...defined({
      api_key: resolveKey(api_key, ['spec', 'builtin_dispatchers', index, 'api_key'], sources, findings),
    }),
  }));
}
