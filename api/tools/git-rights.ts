import type { GitBinding, GitOperation } from '../../crds/schema/git-binding.ts';
import { AppError } from '../../lib/errors.ts';
import type { ToolCaller } from '../../lib/tools/tool.ts';
import { exceptionWithin, placeOf, type VolumePlace, type WantedFile } from '../../lib/tools/volume-policy.ts';

/** Folder of the volume that holds the tree. */
export const folder = 'current';

/** Operations that change files of the volume. */
export const writes: ReadonlySet<GitOperation> = new Set(['sync', 'commit']);

/** Operations that read every file of the tree, or hand on what was read. */
const takesAll: ReadonlySet<GitOperation> = new Set(['commit', 'push', 'diff']);

/** The tree is files of a volume: the filesystem policy of the caller covers it as it covers svc.file (WF-STOR-13). */
export function assertMay(caller: ToolCaller, { metadata }: GitBinding, op: GitOperation): void {
  const volume = `git-${metadata.name}`;
  const file = { volume, path: `/${folder}`, isWrite: writes.has(op) };
  const place = placeOf(caller, file);
  if (place !== undefined) return takesAll.has(op) ? assertWhole(place, file) : undefined;
  const message =
    `the volume ${volume} is outside what this agent may touch; mount the volume, or name volume:${volume}/… under ` +
    'spec.security.filesystem of the agent or path_allowlist of the SecurityContext';
  throw new AppError('forbidden', message, { reason: 'PERMISSION_DENIED' });
}

/** Rules of files within the tree hold for `svc.file.*`, and git knows none of them. */
function assertWhole(place: VolumePlace, file: WantedFile): void {
  const exception = exceptionWithin(place, file);
  if (exception === undefined) return;
  const message =
    `the operation takes all files of the folder ${folder} of the volume ${file.volume}, and ${exception}; ` +
    'use svc.file.*, or change the rule in the SecurityContext or the manifest';
  throw new AppError('forbidden', message, { reason: 'PERMISSION_DENIED' });
}

/**
 * A Secret is used where the SecurityContext of the call lends it: the writer of the context may read it (ADR 0098). A binding has
 * one for its syncs; a push with it is lent as well (ADR 0137).
 */
export function assertLent({ security }: ToolCaller, secret: string | undefined, op: 'clone' | 'push'): void {
  if (secret === undefined || security.git_secrets?.includes(secret) === true) return;
  const message =
    `${lead[op]} the SecurityContext of this call does not name ${secret} in git_secrets; ` +
    `${op === 'clone' ? 'leave secret out, or ' : ''}have a user who may get the Secret add it there`;
  throw new AppError('forbidden', message, { reason: 'PERMISSION_DENIED' });
}

const lead = { clone: 'secret:', push: 'the binding pushes with a Secret:' } as const;
