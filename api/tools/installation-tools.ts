import manifest from '../../package.json' with { type: 'json' };
import { editorSchemas } from '../../crds/editor-schema.ts';
import { kinds } from '../../crds/kinds.ts';
import { apiVersion } from '../../crds/labels.ts';
import { AppError } from '../../lib/errors.ts';
import type { ManifestReader, ManifestReading } from '../../lib/manifest/index.ts';
import type { NodeConfig } from '../../lib/node-config/index.ts';
import { catalogue } from '../../lib/tools/catalogue/catalogue.ts';
import type { Tool, ToolCaller } from '../../lib/tools/tool.ts';
import type { Searches } from '../../lib/word-search.ts';
import { type Give, invalid, textArgument } from './give.ts';

export interface InstallationToolsDeps {
  readonly nodeConfig: NodeConfig;
  readonly manifests: ManifestReader;
  readonly searches: Searches;
  /** Built-in tools that the policy of the caller permits. */
  readonly offered: (caller: ToolCaller) => readonly Tool[];
  /**
   * Registered tools that the caller may call: an agent those that its manifest names.
   * @throws AppError `unavailable` where the tool gateway does not answer.
   */
  readonly registered: (caller: ToolCaller, signal: AbortSignal) => Promise<readonly Listed[]>;
}

/** A tool as the list shows it. */
type Listed = Pick<Tool, 'name' | 'description' | 'input_schema'>;

/** Tools about the installation: its tools, runtimes, settings and kinds. */
export function installationTools(deps: InstallationToolsDeps): Record<string, Give> {
  return { ...aboutTools(deps), ...aboutSystem(deps), ...aboutKinds(deps) };
}

function aboutTools(deps: InstallationToolsDeps): Record<string, Give> {
  const listed = async (caller: ToolCaller, query: unknown, signal: AbortSignal) => {
    const words = typeof query === 'string' ? query : undefined;
    const registered = await registeredOrProblem(deps, caller, signal);
    const builtIn = callable(deps, caller).flatMap(({ name }) => catalogue.get(name) ?? []);
    const found = await deps.searches.rowsHolding<Listed>(
      { tenant: caller.tenant, words },
      [...builtIn, ...registered.tools],
      ({ name, description }) => `${name} ${description}`,
    );
    const tools = found.map(({ name, description, input_schema }) => ({ name, description, input_schema }));
    return { ...registered, tools };
  };
  return {
    'svc.tools.list': (caller, _args, signal) => listed(caller, undefined, signal),
    'svc.tools.search': (caller, { query }, signal) => listed(caller, query, signal),
  };
}

/** Tools that run in a container are for agents alone: no other caller has one. */
const callable = ({ offered }: InstallationToolsDeps, caller: ToolCaller): readonly Tool[] =>
  offered(caller).filter(({ run }) => run.kind === 'api' || caller.agent !== undefined);

/** Built-in tools can be named while the gateway, which has the others, is away; the answer says what it lacks. */
async function registeredOrProblem({ registered }: InstallationToolsDeps, caller: ToolCaller, signal: AbortSignal) {
  try {
    return { tools: await registered(caller, signal) };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'unavailable') throw error;
    return { tools: [], problem: `registered tools are missing: ${error.message}` };
  }
}

function aboutSystem(deps: InstallationToolsDeps): Record<string, Give> {
  const { nodeConfig } = deps;
  return {
    'svc.runtime.list': async (_caller, { language }) => ({
      runtimes: runtimesOf(nodeConfig).filter((one) => typeof language !== 'string' || one.language === language),
    }),
    'svc.system.info': async (caller) => ({
      name: manifest.name,
      version: manifest.version,
      api_version: apiVersion,
      kinds: kinds.map(({ kind }) => kind),
      tools: callable(deps, caller).length,
    }),
    'svc.system.config': async () => settingsOf(nodeConfig),
  };
}

const runtimesOf = ({ runtimes }: Pick<NodeConfig, 'runtimes'>) =>
  runtimes.map(({ language, version }) => ({ language, version }));

/** Named one by one: no key, address or image reaches a model because a field was added to the file. */
function settingsOf({ llm_providers, llm_selection, builtin_dispatchers, runtimes, isolation }: NodeConfig) {
  return {
    models: llm_providers.map(({ name, type, models }) => ({
      provider: name,
      type,
      aliases: models.map(({ alias }) => alias),
    })),
    selection: llm_selection.strategy,
    dispatchers: builtin_dispatchers.map(({ name, max_output_bytes, timeout_ceiling_secs, capabilities }) => ({
      name,
      max_output_bytes,
      timeout_ceiling_secs,
      capabilities,
    })),
    runtimes: runtimesOf({ runtimes }),
    isolations: Object.keys(isolation),
  };
}

function aboutKinds({ manifests }: InstallationToolsDeps): Record<string, Give> {
  return {
    'svc.schema.get': async (_caller, args) => schemaOf(textArgument(args, 'key')),
    'svc.schema.validate': async ({ tenant }, args) => {
      const kind = kindOf(textArgument(args, 'kind'));
      return verdictOf(await manifests.read(textArgument(args, 'manifest_yaml'), tenant, kind));
    },
    'svc.workflow.validate': async ({ tenant }, { manifest_yaml: text }) => {
      if (typeof text !== 'string') throw invalid('manifest_yaml is missing; give the manifest as YAML');
      return verdictOf(await manifests.read(text, tenant));
    },
  };
}

/** By the name of the kind or of its schema file: `Workflow`, `workflow` and `workflow-manifest`. */
function schemaOf(key: string): object {
  const schemas = editorSchemas();
  const found = schemas.get(key.toLowerCase());
  if (found !== undefined) return found;
  throw unknownKind(key, [...kinds.map(({ kind }) => kind), 'workflow-manifest']);
}

function kindOf(name: string): string {
  const found = kinds.find(({ kind }) => kind === name);
  if (found !== undefined) return found.kind;
  throw unknownKind(
    name,
    kinds.map(({ kind }) => kind),
  );
}

const unknownKind = (name: string, known: readonly string[]): AppError =>
  new AppError('not_found', `there is no kind ${JSON.stringify(name.slice(0, 64))}; there are ${known.join(', ')}`, {
    reason: 'NOT_FOUND',
  });

/** Problems that an answer shows; of the rest the number. */
const problemsShown = 100;

export function verdictOf({ problems, furtherProblems }: ManifestReading) {
  const shown = problems.slice(0, problemsShown).map(({ severity, path, message, line, column }) => ({
    severity,
    path,
    message,
    line,
    column,
  }));
  const further = problems.length - shown.length + furtherProblems;
  return {
    valid: !problems.some(({ severity }) => severity === 'error'),
    problems: shown,
    ...(further > 0 && { further_problems: further }),
  };
}
