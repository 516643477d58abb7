import { failure } from './answers.ts';
import { argumentProblem } from './arguments.ts';
import { catalogue } from './catalogue/catalogue.ts';
import type { ToolRow } from './catalogue/row.ts';
import { type CommandCeilings, defaultCeilings } from './command-policy.ts';
import { nameProblem } from './name-policy.ts';
import { withOpenOutcome } from './open-outcome.ts';
import { runCommand } from './pod/run-command.ts';
import { fileOperations, runFileTool } from './pod/run-file-tool.ts';
import {
  isRefusal,
  type Tool,
  type Toolbox,
  type ToolArguments,
  type ToolCaller,
  type ToolRefusal,
  type ToolRun,
} from './tool.ts';

/** The settings of the node configuration that tools obey; `NodeConfig` of lib/node-config fits. */
export interface ToolboxOptions {
  readonly builtin_dispatchers: readonly {
    readonly name: string;
    readonly max_output_bytes?: number;
    readonly timeout_ceiling_secs?: number;
    readonly capabilities?: readonly { readonly name: string; readonly skip_judge?: boolean }[];
  }[];
  /** Tools beside those of the specification, such as `host.info` of edge hosts. */
  readonly rows?: readonly ToolRow[];
}

/** Runners of the tools that need more than a pod, by the name of the tool. */
export type ToolRuns = Readonly<Record<string, ToolRun>>;

/** The one registry of tools (design §12). A tool of the specification that nothing runs is not offered. */
export function createToolbox(options: ToolboxOptions, runs: ToolRuns = {}): Toolbox {
  const built: ToolRuns = { ...podRuns(ceilingsOf(options)), ...runs };
  const tools = new Map([...catalogue.values(), ...(options.rows ?? [])].map((row) => [row.name, toolOf(row, built)]));
  const skipped = skippedBy(options);
  return {
    offered: (caller) =>
      [...tools.values()].filter(({ name }) => Object.hasOwn(built, name) && nameProblem(caller, name) === undefined),
    admit(caller, name, args) {
      const tool = tools.get(name);
      if (tool === undefined) return unknownTool(name);
      return nameProblem(caller, name) ?? policyProblem(caller, tool, args) ?? argumentProblem(tool, args) ?? tool;
    },
    isJudged: (tool) => !(skipped.get(tool.name) ?? tool.skip_judge),
  };
}

export { isRefusal };

const podRuns = (ceilings: CommandCeilings): ToolRuns => ({
  'cmd.run': runCommand(ceilings),
  ...Object.fromEntries(fileOperations.map((op) => [`fs.${op}`, runFileTool(op)])),
});

function toolOf(row: ToolRow, built: ToolRuns): Tool {
  const run = built[row.name] ?? notBuilt(row.name);
  return { ...row, run: run.kind === 'api' && !row.idempotent ? withOpenOutcome(run) : run };
}

const notBuilt = (name: string): ToolRun => ({
  kind: 'api',
  run: async () => failure('NOT_AVAILABLE', `${name} is not available in this release`),
});

function ceilingsOf({ builtin_dispatchers: dispatchers }: ToolboxOptions): CommandCeilings {
  const settings = dispatchers.find(({ name }) => name === 'cmd');
  return {
    maxOutputBytes: settings?.max_output_bytes ?? defaultCeilings.maxOutputBytes,
    timeoutSeconds: settings?.timeout_ceiling_secs ?? defaultCeilings.timeoutSeconds,
  };
}

/** Operators' settings for the judge, by tool (spec 3 §10.1); only operators can set them. */
function skippedBy({ builtin_dispatchers: dispatchers }: ToolboxOptions): ReadonlyMap<string, boolean> {
  const said = dispatchers.flatMap(({ capabilities = [] }) => capabilities);
  return new Map(said.flatMap(({ name, skip_judge }) => (skip_judge === undefined ? [] : [[name, skip_judge]])));
}

/** Each tool judges its own paths, commands or domains, as far as the arguments are of the right type. */
function policyProblem(caller: ToolCaller, { run }: Tool, args: unknown): ToolRefusal | undefined {
  if (typeof args !== 'object' || args === null) return undefined;
  return run.problem?.(caller, args as ToolArguments);
}

const unknownTool = (name: string): ToolRefusal => ({
  kind: 'unknown_tool',
  code: 'UnknownTool',
  message: `there is no tool ${JSON.stringify(name.slice(0, 128))}; svc.tools.list names those there are`,
});
