import type { AuditTrail } from '../../../../lib/bus/index.ts';
import { scopeOf } from '../../../../lib/workflow-lookup/index.ts';
import { defineRoute, json, type Route } from '../../../../lib/http/index.ts';
import { type Caller, requireOperator } from '../../../../lib/identity/index.ts';
import { demoteWorkflow, promoteWorkflow } from '../contract.ts';
import { presentIdentity } from '../present.ts';
import { findSource, type Move } from './find-source.ts';
import { type MoveDeps, moveWorkflow } from './move-workflow.ts';

interface MoveRequest extends Move {
  readonly caller: Caller;
  readonly nameOrUid: string;
  readonly force: boolean;
}

interface MoveRoutesDeps extends MoveDeps {
  readonly audit: AuditTrail;
}

export function createMoveRoutes(deps: MoveRoutesDeps): Route<Caller>[] {
  const move = async ({ caller, force, ...wanted }: MoveRequest) => {
    requireOperator(caller);
    const source = await findSource(deps.cluster.workflows, caller, wanted);
    const isThere = scopeOf(source) === wanted.scope;
    if (isThere) return json(presentIdentity(source));
    const moved = presentIdentity(
      await moveWorkflow(deps, source, { scope: wanted.scope, viewer: caller, force, scopes: caller.scopes }),
    );
    const data = { workflow: moved.name, scope: moved.scope, former_workflow_id: source.metadata.uid };
    deps.audit.record({ type: auditTypes[wanted.direction], by: caller, subject: moved.workflow_id, data });
    return json(moved);
  };
  return [
    defineRoute<typeof promoteWorkflow, Caller>(promoteWorkflow, ({ params, query, caller }) =>
      move({ direction: 'promote', nameOrUid: params.workflow, ...query, caller }),
    ),
    defineRoute<typeof demoteWorkflow, Caller>(demoteWorkflow, ({ params, query, caller }) =>
      move({ direction: 'demote', nameOrUid: params.workflow, ...query, caller }),
    ),
  ];
}

const auditTypes = { promote: 'WorkflowPromoted', demote: 'WorkflowDemoted' } as const;
