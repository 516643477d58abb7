import type { ToolRefusal } from '../../lib/tools/tool.ts';

/** A call that policy or the check of its arguments refuses. */
export class RefusedCall extends Error {
  override readonly name = 'RefusedCall';
  readonly refusal: ToolRefusal;

  constructor(refusal: ToolRefusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** Arguments that do not fit the schema as it is now: it was checked as it was when the tool was found. */
export const unfitArguments = (tool: string, { path, message }: { readonly path: string; readonly message: string }) =>
  new RefusedCall({
    kind: 'arguments',
    code: 'InvalidArguments',
    message: `Invalid tool arguments: ${path} ${message} for tool '${tool}'`,
  });
