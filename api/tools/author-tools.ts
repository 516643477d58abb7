import { defined } from '../../lib/defined.ts';
import { AppError } from '../../lib/errors.ts';
import { fencedBlock } from '../../lib/fenced-block.ts';
import { isJsonObject } from '../../lib/json-object.ts';
import type { ManifestReader } from '../../lib/manifest/index.ts';
import type { ToolArguments } from '../../lib/tools/tool.ts';
import type { RoomyCaller } from './call-room.ts';
import { type ExecutionToolsDeps, hasEnded, waitsFor } from './execution-tools.ts';
import { type Give, given, textArgument } from './give.ts';
import { verdictOf } from './installation-tools.ts';

export interface AuthorToolsDeps extends ExecutionToolsDeps {
  readonly manifests: ManifestReader;
}

/** Agents that write manifests, by what they write: the tenant's own of that name, else the one that all tenants share. */
const authors = { Agent: 'agent-author', Workflow: 'workflow-author' } as const;
type Written = keyof typeof authors;

/** Tools that have something written, and that find or write a pipeline and run it (spec 3 §10.1). */
export function authorTools(deps: AuthorToolsDeps): Record<string, Give> {
  const runs = runsPipeline(deps);
  return {
    'svc.agent.generate': generates(deps, 'Agent'),
    'svc.workflow.generate': generates(deps, 'Workflow'),
    'svc.execute.intent': (caller, args, signal) => runs(caller, { ...args, wish: args['intent'] }, signal),
    'svc.execute': executes(deps, runs),
  };
}

/** The author's definition, or its progress: `timed_out` where the time of the call was over first. */
interface Draft {
  readonly execution_id: string;
  readonly status: unknown;
  readonly manifest_yaml?: string;
  readonly timed_out?: true;
}

function generates(deps: AuthorToolsDeps, kind: Written): Give {
  return async (caller, args, signal) => {
    const draft = await write(deps, kind, { caller, wish: textArgument(args, 'input'), args }, signal);
    if (draft.manifest_yaml === undefined) return draft;
    return { ...draft, ...verdictOf(await deps.manifests.read(draft.manifest_yaml, caller.tenant, kind)) };
  };
}

interface Wish {
  readonly caller: RoomyCaller;
  readonly wish: string;
  readonly args: ToolArguments;
}

async function write(
  deps: AuthorToolsDeps,
  kind: Written,
  { caller, wish, args }: Wish,
  signal: AbortSignal,
): Promise<Draft> {
  const { agent_id, version } = await authorOf(deps, caller, kind);
  const body = { agent_id, version, input: wish };
  const started = await deps.operations.call('startAgentExecution', caller, { body });
  const execution_id = isJsonObject(started) ? String(started['execution_id']) : '';
  const wait = waitsFor(deps, {
    phase: () => deps.phases.ofAgent(caller, execution_id),
    read: () => deps.operations.call('readAgentExecution', caller, { params: { execution_id } }),
  });
  const ended = await wait(caller, args, signal);
  if (!isJsonObject(ended)) throw new AppError('internal', 'the execution of the author is not of its form');
  const { status, output, reason, message } = ended;
  if (!hasEnded(ended)) return { execution_id, status, timed_out: true };
  if (status === 'completed' && typeof output === 'string')
    return { execution_id, status, manifest_yaml: manifestIn(output) };
  const why = [reason, message].filter((text) => typeof text === 'string').join(': ');
  throw new AppError('conflict', `${authors[kind]} wrote nothing, ${String(status)}: ${why || 'no output'}`);
}

/**
 * TOOL-RULE-08: it runs in the default security context, whichever caller registered it. The checked version is the one
 * that runs.
 */
async function authorOf({ operations, agentIdOf }: AuthorToolsDeps, caller: RoomyCaller, kind: Written) {
  const name = authors[kind];
  const agentId = await agentIdOf(caller.tenant, name);
  if (agentId === undefined)
    throw new AppError('not_found', `there is no agent ${name}, which writes manifests; register one`);
  const agent = await operations.call('readAgent', caller, { params: { agent: agentId } });
  const { metadata, spec } = isJsonObject(agent) ? agent : {};
  const security = isJsonObject(spec) ? spec['security'] : undefined;
  const context = isJsonObject(security) ? (security['context'] ?? 'default') : 'default';
  if (context !== 'default')
    throw new AppError('forbidden', `${name} must run in the security context default; remove spec.security.context`);
  return { agent_id: agentId, version: isJsonObject(metadata) ? metadata['version'] : undefined };
}

/** A model often puts its text into a fence, with words around it. */
const manifestIn = (text: string): string => fencedBlock(text, ['yaml', 'yml']) ?? text;

/** `svc.execute` waits for the end as well. */
function executes(deps: AuthorToolsDeps, runs: Give): Give {
  return async (caller, args, signal) => {
    const run = await runs(caller, { ...args, wish: args['prompt'] }, signal);
    if (!isJsonObject(run) || typeof run['pipeline_execution_id'] !== 'string') return run;
    const execution_id = run['pipeline_execution_id'];
    const asked = { params: { execution_id }, query: { full: true } };
    const wait = waitsFor(deps, {
      phase: () => deps.phases.ofWorkflow(caller, execution_id),
      read: () => deps.operations.call('readExecution', caller, asked),
    });
    const ended = await wait(caller, args, signal);
    if (!isJsonObject(ended)) return run;
    return { ...run, status: ended['status'], last_output: ended['final_output'], timed_out: ended['timed_out'] };
  };
}

/** Finds a workflow for a wish, else has one written and registers it; starts it. */
function runsPipeline(deps: AuthorToolsDeps): Give {
  const { operations } = deps;
  return async (caller, args, signal) => {
    const wish = textArgument(args, 'wish');
    const known = await findPipeline(deps, caller, wish);
    const workflow = known ?? (await writePipeline(deps, { caller, wish, args }, signal));
    if (typeof workflow !== 'string') return workflow;
    const body = { workflow, intent: wish, input: { prompt: wish }, ...given(args, 'input') };
    const started = await operations.call('startExecution', caller, { body });
    const id = isJsonObject(started) ? started['execution_id'] : undefined;
    return { pipeline_execution_id: id, workflow, written: known === undefined };
  };
}

/** The id of the workflow that was written and registered, or how far its author is. */
async function writePipeline(deps: AuthorToolsDeps, wish: Wish, signal: AbortSignal): Promise<string | Draft> {
  const draft = await write(deps, 'Workflow', wish, signal);
  if (draft.manifest_yaml === undefined) return draft;
  const registered = await deps.operations.call('registerWorkflow', wish.caller, { body: draft.manifest_yaml });
  return isJsonObject(registered) ? String(registered['workflow_id']) : draft;
}

/** Workflows that are looked through for a wish. */
const looked = { pages: 5, rows: 200 };

/** The workflow most of whose name and description the wish holds; at least half of the words of its name. */
async function findPipeline(deps: AuthorToolsDeps, caller: RoomyCaller, wish: string): Promise<string | undefined> {
  const wished = new Set(wordsOf(wish));
  let best = { id: '', score: 0 };
  for await (const row of workflowsOf(deps, caller)) {
    const score = scoreOf(row, wished);
    if (score > best.score) best = { id: String(row['workflow_id']), score };
  }
  return best.score > 0 ? best.id : undefined;
}

async function* workflowsOf({ operations }: AuthorToolsDeps, caller: RoomyCaller) {
  let cursor: string | undefined;
  for (let page = 0; page < looked.pages; page += 1) {
    const query = { limit: looked.rows, ...defined({ cursor }) };
    const listed = await operations.call('listWorkflows', caller, { query });
    const { workflows, next_cursor: next } = isJsonObject(listed) ? listed : {};
    if (Array.isArray(workflows)) yield* workflows.filter(isJsonObject);
    if (typeof next !== 'string') return;
    cursor = next;
  }
}

/** Words shorter than this say nothing, as `a` and `to`. */
const shortestWord = 3;
const wordsOf = (text: string): readonly string[] =>
  (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => word.length >= shortestWord);

/** 0: it does not fit, or cannot run. */
function scoreOf({ name, description, ready }: Readonly<Record<string, unknown>>, wished: ReadonlySet<string>): number {
  if (ready !== true || typeof name !== 'string') return 0;
  const named = wordsOf(name);
  const hits = named.filter((word) => wished.has(word)).length;
  if (named.length === 0 || hits * 2 < named.length || hits === 0) return 0;
  const described = typeof description === 'string' ? new Set(wordsOf(description)) : new Set<string>();
  return hits * 10 + [...described].filter((word) => wished.has(word)).length;
}
