import type { ToolCall, ToolCallStatus } from '../../crds/schema/tool-call.ts';
import { defined } from '../defined.ts';
import { executionMarks, slimMetadata } from '../informer/slim-metadata.ts';

/** That a call is cancelled is all that counts in a cache. */
const someCancel = Object.freeze({ by: '', at: '' });

/**
 * A ToolCall without its arguments, its user, its context, its answer and the message of its end. A cache may hold
 * thousands, and none of them wakes a decision (design §11). The replica that runs a call, or takes its end, has the
 * whole of it.
 */
export function slimToolCall({ apiVersion, kind, metadata, spec, status }: ToolCall): ToolCall {
  const { tool, timeout, parent, cancel } = spec;
  return {
    apiVersion,
    kind,
    metadata: slimMetadata(metadata, executionMarks),
    spec: {
      tool,
      timeout,
      parent,
      arguments: '',
      subject: '',
      ...(cancel === undefined ? {} : { cancel: someCancel }),
    },
    ...(status === undefined ? {} : { status: slimStatus(status) }),
  };
}

const slimStatus = ({ phase, claim, finished_at, reason }: ToolCallStatus): ToolCallStatus =>
  defined({ phase, claim, finished_at, reason });
