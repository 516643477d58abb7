import type { ToolCall } from '../../crds/schema/tool-call.ts';
import { createInformer, createWholeObjects, type Informer } from '../../lib/informer/index.ts';
import { toolCalls } from '../../lib/kinds.ts';
import { bytesOf } from '../../lib/memory-budget/index.ts';
import { slimToolCall } from '../../lib/tools/slim-tool-call.ts';
import type { InformerSpec } from '../runtime/module.ts';
import { withSpec } from '../runtime/with-spec.ts';

/** Bytes of heap for whole versions: those used last spare a request. */
const keptBytes = bytesOf('whole tool calls');

/** `parentUid`: uid of the execution that makes the call. Slim: a version in full is read by `whole` and `use`. */
export const toolCallInformer: InformerSpec<Informer<ToolCall, 'parentUid'>> = {
  name: 'toolCalls',
  kind: 'ToolCall',
  open: (deps) =>
    createInformer(deps, {
      resource: toolCalls,
      parse: withSpec,
      wholes: createWholeObjects({
        kube: deps.kube,
        clock: deps.clock,
        resource: toolCalls,
        slim: slimToolCall,
        keptBytes,
      }),
      indexes: { parentUid: ({ spec }) => [spec.parent.uid] },
    }),
};
