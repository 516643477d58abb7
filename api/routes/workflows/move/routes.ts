import { scopeOf } from '../../../../lib/catalogue/index.ts';
import { defineRoute, json, type Route } from '../../../../lib/http/index.ts';
import { type Caller, requireOperator } from '../../../identity/index.ts';
import { demoteWorkflow, promoteWorkflow } from '../contract.ts';
import { presentIdentity } from '../present.ts';
import { type Destination, findSource } from './find-source.ts';
import { type MoveDeps, moveWorkflow } from './move-workflow.ts';

interface MoveRequest extends Destination {
  readonly caller: Caller;
  readonly nameOrId: string;
  readonly force: boolean;
}

export function createMoveRoutes(deps: MoveDeps): Route<Caller>[] {
  const move = async ({ caller, force, ...wanted }: MoveRequest) => {
    requireOperator(caller);
    const source = await findSource(deps.cluster.workflows, caller, wanted);
    const isThere = scopeOf(source) === wanted.scope;
    const workflow = isThere
      ? source
      : await moveWorkflow(deps, source, { scope: wanted.scope, viewer: caller, force });
    return json(presentIdentity(workflow));
  };
  return [
    defineRoute<typeof promoteWorkflow, Caller>(promoteWorkflow, ({ params, query, caller }) =>
      move({ direction: 'promote', nameOrId: params.workflow, ...query, caller }),
    ),
    defineRoute<typeof demoteWorkflow, Caller>(demoteWorkflow, ({ params, query, caller }) =>
      move({ direction: 'demote', nameOrId: params.workflow, ...query, caller }),
    ),
  ];
}
