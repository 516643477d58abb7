import type { SecurityContextSpec } from '../../crds/schema/security-context.ts';
import type { Clock } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import { matchesAny } from '../../lib/tools/name-pattern.ts';
import type {
  DispatchPlan,
  DispatchResult,
  Tool,
  ToolAnswer,
  ToolArguments,
  ToolCaller,
  ToolRefusal,
} from '../../lib/tools/tool.ts';
import { createToolbox, isRefusal, type ToolRuns } from '../../lib/tools/toolbox.ts';
import type { LocalConfig } from '../config/schema.ts';
import { hostInfoRow } from './host-info.ts';
import { limitedCommand, type OnOutput, runProcess } from './run-process.ts';

/** One call, after its command was proven. */
export interface HostCall {
  readonly tenant: string;
  /** The caller who asked for it. */
  readonly author: string;
  readonly tool: string;
  readonly args: ToolArguments;
  readonly contextName: string;
  readonly context: SecurityContextSpec;
  /** How long it may take. */
  readonly seconds: number;
}

/** How a tool ended by itself. */
export interface HostAnswer extends ToolAnswer {
  /** Exit code of the process that it ran; 0 where there was none. */
  readonly exitCode: number;
  /** Output of a command. */
  readonly output?: { readonly stdout: string; readonly stderr: string };
}

/** The tools of this host. */
export interface HostTools {
  /** Names of the tools that can run here. */
  readonly names: readonly string[];
  /** Why the call may not be made; undefined where it may. */
  problem(call: HostCall): ToolRefusal | undefined;
  /** Runs it. Where the signal aborts, what it started is killed. @throws AppError, whose reason is a word for machines. */
  run(call: HostCall, options: { readonly signal: AbortSignal; readonly onOutput: OnOutput }): Promise<HostAnswer>;
}

interface HostToolsDeps {
  readonly clock: Clock;
  readonly config: () => LocalConfig;
  /** `web.fetch` and `host.info`. */
  readonly runs: ToolRuns;
  /** The program `runner`; without it there are no fs.* tools. */
  readonly runner: string | undefined;
  /** The program `prlimit`; without it no command runs where limits are configured. */
  readonly prlimit: string | undefined;
}

/** The environment that a command gets beside what the owner's configuration adds. */
const basicEnvironment = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8' };

export function createHostTools({ clock, config, runs, runner, prlimit }: HostToolsDeps): HostTools {
  const toolbox = createToolbox({ builtin_dispatchers: [], rows: [hostInfoRow] }, runs);
  const names = toolbox
    .offered(callerOf({ tenant: '', author: '', context: {} }, {}))
    .map(({ name }) => name)
    .filter((name) => isHere(name, runner))
    .toSorted();
  const admit = (call: HostCall): Tool | ToolRefusal => {
    if (!names.includes(call.tool)) return unknown(call.tool, names);
    if (call.context.max_calls === 0) return forbidden(call.contextName);
    return toolbox.admit(callerOf(call, config()), call.tool, call.args);
  };
  return {
    names,
    problem(call) {
      const admitted = admit(call);
      return isRefusal(admitted) ? admitted : undefined;
    },
    async run(call, options) {
      const tool = admit(call);
      if (isRefusal(tool)) throw new AppError('forbidden', tool.message, { reason: tool.code });
      const caller = callerOf(call, config());
      if (tool.run.kind === 'api') return { ...(await tool.run.run(caller, call.args, options.signal)), exitCode: 0 };
      const plan = tool.run.plan(caller, call.args);
      if ('content' in plan) return { ...plan, exitCode: 0 };
      const isCommand = call.tool === 'cmd.run';
      const found = isCommand
        ? await runCommand(
            { clock, config: config(), prlimit },
            { ...plan, timeout_secs: call.seconds + marginSeconds },
            options,
          )
        : await runFileTool({ clock, runner }, plan, options);
      const given = tool.run.answer(caller, call.args, found);
      if (!isCommand) return { ...given, exitCode: 0 };
      return { ...given, exitCode: found.exit_code, output: { stdout: found.stdout, stderr: found.stderr } };
    },
  };
}

/** The signal comes first: it is the caller who says that the time is over. */
const marginSeconds = 60;

type RunOptions = Parameters<HostTools['run']>[1];

async function runCommand(
  { clock, config, prlimit }: Pick<HostToolsDeps, 'clock' | 'prlimit'> & { readonly config: LocalConfig },
  plan: DispatchPlan,
  options: RunOptions,
): Promise<DispatchResult> {
  const { working_folder: cwd = '/', environment: added = {}, nice = 0, limits = {} } = config;
  const limited = limitedCommand({ ...plan, cwd }, limits, prlimit);
  return runProcess({ clock, nice, environment: { ...basicEnvironment, ...added } }, limited, options);
}

/** The program answers one request and prints its answer, which is no output of a command. */
function runFileTool(
  { clock, runner = '' }: { readonly clock: Clock; readonly runner: string | undefined },
  plan: DispatchPlan,
  { signal }: RunOptions,
): Promise<DispatchResult> {
  const settings = { clock, nice: 0, environment: {} };
  return runProcess(settings, { ...plan, command: runner, cwd: '/' }, { signal, onOutput: () => undefined });
}

/** Tools of the catalogue that a host runs: those of the pod, of the web without searching, and its own. */
const isHere = (name: string, runner: string | undefined): boolean =>
  matchesAny(['cmd.run', 'web.fetch', 'host.info', ...(runner === undefined ? [] : ['fs.*'])], name);

type Whose = Pick<HostCall, 'tenant' | 'author' | 'context'>;

function callerOf({ tenant, author, context }: Whose, { mounts = [] }: LocalConfig): ToolCaller {
  return {
    tenant,
    namespace: '',
    subject: author,
    // An absent list allows nothing of its kind (AMB-195).
    security: { ...context, path_allowlist: context.path_allowlist ?? [] },
    mounts: mounts.map(({ path, writable = false }) => ({ path, writable })),
  };
}

const unknown = (name: string, names: readonly string[]): ToolRefusal => ({
  kind: 'unknown_tool',
  code: 'UnknownTool',
  message: `this host has no tool ${JSON.stringify(name.slice(0, 128))}; it has ${names.join(', ')}`,
});

const forbidden = (context: string): ToolRefusal => ({
  kind: 'policy',
  code: 'MaxCallsExceeded',
  message: `max_calls of the security context ${context} is 0, so it permits no call`,
});

/** Seconds of a call: what it asks for (spec 2 §2.4), within what the owner permits where the owner sets a limit. */
export const secondsOf = (asked: number, { command_timeout_secs: most = asked }: LocalConfig): number =>
  Math.min(asked, most);
