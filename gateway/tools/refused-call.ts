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
