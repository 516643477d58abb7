import type { ToolRun } from '../../lib/tools/tool.ts';
import type { ToolRuns } from '../../lib/tools/toolbox.ts';
import { type AuthorToolsDeps, authorTools } from './author-tools.ts';
import { directTools } from './direct-tools.ts';
import { executionTools } from './execution-tools.ts';
import { type FileToolsDeps, fileTools } from './file-tools.ts';
import { type GitToolsDeps, gitTools } from './git-tools.ts';
import type { CallRooms } from './call-room.ts';
import { runOf } from './give.ts';
import { type InstallationToolsDeps, installationTools } from './installation-tools.ts';
import { type ScriptToolsDeps, scriptTools } from './script-tools.ts';
import { type VolumeToolsDeps, volumeTools } from './volume-tools.ts';

export type ServiceToolsDeps = AuthorToolsDeps &
  InstallationToolsDeps &
  VolumeToolsDeps &
  ScriptToolsDeps &
  GitToolsDeps &
  FileToolsDeps & {
    readonly rooms: CallRooms;
  };

/** Tools that administer the platform, over the operations of the HTTP API (spec 3 §10.1). */
export function createServiceTools(deps: ServiceToolsDeps): ToolRuns {
  const gives = {
    ...directTools(deps.operations),
    ...executionTools(deps),
    ...authorTools(deps),
    ...installationTools(deps),
    ...volumeTools(deps),
    ...scriptTools(deps),
    ...gitTools(deps),
  };
  const runs = Object.entries(gives).map(([name, give]): [string, ToolRun] => [name, runOf(deps.rooms, give)]);
  return { ...Object.fromEntries(runs), ...fileTools(deps) };
}
