import type { ToolCall } from '../../crds/schema/tool-call.ts';
import { slimCancel } from '../execution/slim-cancel.ts';
import { slimMetadata } from '../informer/slim-metadata.ts';

/** A ToolCall without its arguments and its answer: a cache may hold thousands, and neither wakes a decision (design §11). */
export function slimToolCall({ apiVersion, kind, metadata, spec, status }: ToolCall): ToolCall {
  const { result: _result, ...progress } = status ?? {};
  const { cancel, ...asked } = spec;
  return {
    apiVersion,
    kind,
    metadata: slimMetadata(metadata),
    spec: { ...asked, arguments: '', ...(cancel === undefined ? {} : { cancel: slimCancel(cancel) }) },
    ...(status === undefined ? {} : { status: progress }),
  };
}
