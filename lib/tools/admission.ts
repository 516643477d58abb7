import { argumentProblem } from './arguments.ts';
import { isRefusal, type Tool, type ToolArguments, type Toolbox, type ToolCaller, type ToolRefusal } from './tool.ts';

interface AdmissionDeps {
  readonly toolbox: Pick<Toolbox, 'admit'>;
  readonly caller: ToolCaller;
  /** Tools that the tenant has registered and the caller may call. Asked only where no built-in tool has the name. */
  readonly registered: () => Promise<readonly Tool[]>;
}

/** The tool of a call, or why it is refused. Built-in tools come first; the tenant cannot register their names. */
export async function admitCall(
  { toolbox, caller, registered }: AdmissionDeps,
  name: string,
  args: ToolArguments,
): Promise<Tool | ToolRefusal> {
  const admitted = toolbox.admit(caller, name, args);
  if (!isRefusal(admitted) || admitted.kind !== 'unknown_tool') return admitted;
  const tool = (await registered()).find((offered) => offered.name === name);
  return tool === undefined ? admitted : (argumentProblem(tool, args) ?? tool);
}
