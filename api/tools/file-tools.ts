import { posix } from 'node:path';
import { limits } from '../../crds/limits.ts';
import { isUid } from '../../crds/uid.ts';
import type { EventSink } from '../../lib/bus/event-bus.ts';
import { AppError, hasReason } from '../../lib/errors.ts';
import { isJsonObject } from '../../lib/json-object.ts';
import type { NewId } from '../../lib/ids.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import { failure } from '../../lib/tools/answers.ts';
import {
  bytesRequest,
  chunksOf,
  type FileOperation,
  fileRequest,
  readFileAnswer,
} from '../../lib/tools/pod/run-file-tool.ts';
import type { ToolAnswer, ToolArguments } from '../../lib/tools/tool.ts';
import type { ToolRuns } from '../../lib/tools/toolbox.ts';
import { placeOf, type VolumePlace } from '../../lib/tools/volume-policy.ts';
import type { CallRooms, RoomyCaller } from './call-room.ts';
import { invalid, runIn, textArgument } from './give.ts';
import { type HelperPodsDeps, runHelper } from './helper-pods.ts';
import { type HelperPlan, helperWorkflow, requestInput } from './helper-workflow.ts';
import { storageFact, type StorageUse } from './storage-fact.ts';
import { namespaceOf } from './volume-tools.ts';

export interface FileToolsDeps extends HelperPodsDeps {
  readonly rooms: CallRooms;
  readonly tenants: Pick<TenantDirectory, 'namespaceOf'>;
  readonly events: EventSink;
  readonly newId: NewId;
  /** Image of helper pods; undefined: there are no file tools. */
  readonly helperImage: string | undefined;
  /** Address of the API for downloads, without a slash at its end. */
  readonly publicUrl: string;
}

const operations: Readonly<Record<string, readonly [op: FileOperation, kind: 'read' | 'write']>> = {
  'svc.file.list': ['list', 'read'],
  'svc.file.read': ['read', 'read'],
  'svc.file.write': ['write', 'write'],
  'svc.file.mkdir': ['create_dir', 'write'],
  'svc.file.delete': ['delete', 'write'],
};

/** Files of volumes without a pod of an agent: each call is one helper pod (design §12; ADR 0090). */
export function fileTools(deps: FileToolsDeps): ToolRuns {
  const { helperImage: image, rooms } = deps;
  if (image === undefined) return {};
  const helpers: Helpers = { ...deps, image };
  return {
    ...Object.fromEntries(Object.keys(operations).map((tool) => [tool, runIn(rooms, fileTool(helpers, tool))])),
    'svc.execution.file': runIn(rooms, (...call) => executionFile(helpers, ...call)),
  };
}

type Helpers = FileToolsDeps & { readonly image: string };
type Act = (caller: RoomyCaller, args: ToolArguments, signal: AbortSignal) => Promise<ToolAnswer>;

/** The content of an answer is that of `fs.*`, not JSON. */
function fileTool(helpers: Helpers, tool: string): Act {
  return async (caller, args, signal) => {
    const [id, path] = [textArgument(args, 'volume_id'), insideOf(textArgument(args, 'path'))];
    const call = { caller, tool, args };
    // One that is not there has no name but that by which it was asked for.
    const asked = id.slice(0, limits.objectNameLength).toWellFormed();
    const absent = { ...call, file: { volume: { uid: asked, name: asked }, path } };
    const volume = await volumeOf(helpers, caller, id).catch((error: unknown) => failed(helpers, absent, error));
    return placed(helpers, { ...call, file: { volume, path } }, (at) => act(helpers, at, signal));
  };
}

interface VolumeFile {
  readonly volume: HelperPlan['volume'];
  /** Absolute, from the root of the volume. */
  readonly path: string;
}

interface FileCall {
  readonly caller: RoomyCaller;
  readonly tool: string;
  readonly args: ToolArguments;
  readonly file: VolumeFile;
}

/** `..` does not lead above the root; what symbolic links lead to is refused by the runner. */
const insideOf = (path: string): string => posix.resolve('/', path);

/** How long helper executions are kept: they hold what was read and written. */
const keepSeconds = 60;

/** Only where the filesystem policy of the caller permits it; each call is a StorageEvent (requirements AMB-199). */
async function placed(
  helpers: Helpers,
  call: FileCall,
  run: (call: PlacedCall) => Promise<ToolAnswer>,
): Promise<ToolAnswer> {
  const { caller, tool, file } = call;
  const wanted = { volume: file.volume.name, path: file.path, isWrite: operationOf(tool) === 'write' };
  const place = placeOf(caller, wanted);
  const answer =
    place === undefined
      ? refused(file)
      : await run({ ...call, place }).catch((error: unknown) => failed(helpers, call, error));
  raise(helpers, call, outcomeOf(answer));
  return answer;
}

/**
 * A call that is made again, by the next driver of its conversation or by the next replica for a workflow, has not
 * ended. Its event would keep out that of its end. For a workflow only what reads is made again.
 */
function failed(helpers: Helpers, call: FileCall, error: unknown): never {
  const isMadeAgain =
    hasReason(error, 'Stopped') || (hasReason(error, 'ReplicaStops') && operationOf(call.tool) === 'read');
  if (!isMadeAgain) raise(helpers, call, 'error');
  throw error;
}

const operationOf = (tool: string): 'read' | 'write' => operations[tool]?.[1] ?? 'read';

const refused = ({ volume, path }: VolumeFile): ToolAnswer =>
  failure(
    'PERMISSION_DENIED',
    `${path.slice(0, 200)} of the volume ${volume.name} is outside what this agent may touch; mount the volume, or name ` +
      `volume:${volume.name}/… under spec.security.filesystem of the agent or path_allowlist of the SecurityContext`,
  );

/** Names under which `runner fs` refuses what the rules of paths forbid. */
const denied = /^(PERMISSION_DENIED|PathOutsideBoundary):/;

function outcomeOf({ isError, content }: ToolAnswer): 'ok' | 'error' | 'denied' {
  if (!isError) return 'ok';
  return denied.test(content) ? 'denied' : 'error';
}

interface PlacedCall extends FileCall {
  readonly place: VolumePlace;
}

async function act(helpers: Helpers, call: PlacedCall, signal: AbortSignal): Promise<ToolAnswer> {
  const { caller, tool, args, file, place } = call;
  const [op] = operations[tool] ?? ['read'];
  const path = posix.join(place.folder, file.path);
  const input = requestInput(chunksOf(fileRequest(op, args, { ...place, path })));
  if (input === undefined) return failure('TOO_LARGE', 'content: a helper pod takes about 190 KiB; write it in parts');
  const workflow = helperWorkflow(planOf(helpers, call, false));
  const { stdout, exit_code, truncated } = await runHelper(helpers, caller, { workflow, input, keepSeconds }, signal);
  return readFileAnswer({ stdout, stderr: '', exit_code, truncated });
}

const planOf = ({ image, tenants }: Helpers, { caller, file, place }: PlacedCall, isReader: boolean): HelperPlan => ({
  isReader,
  image,
  volume: file.volume,
  folder: place.folder,
  namespace: namespaceOf(tenants, caller),
});

/** @throws AppError `not_found` also for a volume of another tenant, `conflict` for one that cannot be mounted. */
async function volumeOf({ operations: api }: Helpers, caller: RoomyCaller, id: string): Promise<VolumeFile['volume']> {
  const view = await api.call('readVolume', caller, { params: { volume_id: id } });
  const { volume_id: uid, name, phase, message } = isJsonObject(view) ? view : {};
  if (phase === 'expired' || phase === 'failed')
    throw new AppError('conflict', `the volume cannot be used: ${typeof message === 'string' ? message : phase}`);
  return { uid: String(uid), name: String(name) };
}

/** requirements AMB-199. */
function raise(helpers: Helpers, { caller, tool, file }: FileCall, outcome: StorageUse['outcome']): void {
  helpers.events.raise(storageFact(helpers, caller, { tool, operation: operationOf(tool), ...file, outcome }));
}

/** How long the bytes of a file can be downloaded. */
const downloadSeconds = 3_600;

/** TOOL-RULE-11: text inline, anything else by the URL of its bytes, which the caller's own token opens. */
async function executionFile(
  helpers: Helpers,
  caller: RoomyCaller,
  args: ToolArguments,
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const file = await fileOf(helpers, caller, args);
  const call = { caller, tool: 'svc.execution.file', args: {}, file };
  return placed(helpers, call, async (at) => {
    const answer = await act(helpers, at, signal);
    if (!answer.isError)
      return { isError: false, content: JSON.stringify({ path: args['path'], content: answer.content }) };
    return /^(NOT_TEXT|TOO_LARGE)/.test(answer.content) ? download(helpers, at, signal) : answer;
  });
}

async function download(helpers: Helpers, call: PlacedCall, signal: AbortSignal): Promise<ToolAnswer> {
  const { caller, file, place } = call;
  const workflow = helperWorkflow(planOf(helpers, call, true));
  const path = posix.join(place.folder, file.path);
  const input = requestInput(chunksOf(bytesRequest({ ...place, path })));
  if (input === undefined) return failure('TOO_LARGE', 'path: it and the rules for it take more than about 190 KiB');
  const ran = await runHelper(helpers, caller, { workflow, input, keepSeconds: downloadSeconds }, signal);
  if (ran.exit_code !== 0) return readFileAnswer({ ...ran, stderr: '', exit_code: 0 });
  if (ran.isCut)
    return failure(
      'TOO_LARGE',
      'a download has 1 MiB at most; mount the volume in a workflow or an agent to read the file',
    );
  const url = `${helpers.publicUrl}/v1/workflows/executions/${ran.execution_id}/logs?stream=stdout`;
  return {
    isError: false,
    content: JSON.stringify({ path: file.path, download_url: url, expires_in_seconds: downloadSeconds }),
  };
}

/** A path of an execution begins with the name of a volume that its workflow declares, else it is in the workspace. */
async function fileOf({ operations: api }: Helpers, caller: RoomyCaller, args: ToolArguments): Promise<VolumeFile> {
  const asked = textArgument(args, 'execution_id');
  const known = isUid(asked) ? asked : await uidOf(api, caller, asked);
  const own = await volumesOf(api, caller, known);
  const path = insideOf(textArgument(args, 'path'));
  const [, first = '', ...rest] = path.split('/');
  const named = own.find(({ declared_name: name }) => name === first);
  const volume = named ?? own.find(({ declared_name: name }) => name === 'workspace');
  if (volume === undefined) throw invalid('the execution has no volume any more; a path is /workspace/… or /VOLUME/…');
  const file = { uid: String(volume['volume_id']), name: String(volume['name']) };
  return { volume: file, path: named === undefined ? path : `/${rest.join('/')}` };
}

/** As many volumes as a namespace has at most by far; the list is read in pages. */
const volumePages = 100;

type VolumeRow = Readonly<Record<string, unknown>>;

async function volumesOf(api: Helpers['operations'], caller: RoomyCaller, execution: unknown): Promise<VolumeRow[]> {
  const own: VolumeRow[] = [];
  let cursor: unknown;
  for (let page = 0; page < volumePages; page += 1) {
    const query = { limit: 200, ...(typeof cursor === 'string' ? { cursor } : {}) };
    const listed = await api.call('listVolumes', caller, { query });
    const { volumes = [], next_cursor: next } = isJsonObject(listed) ? listed : {};
    const rows = Array.isArray(volumes) ? volumes.filter(isJsonObject) : [];
    own.push(...rows.filter(({ execution_id: id }) => id === execution));
    // The next page would wait for memory beside that of this one.
    caller.room.drop();
    if (typeof next !== 'string') break;
    cursor = next;
  }
  return own;
}

async function uidOf(api: Helpers['operations'], caller: RoomyCaller, name: string): Promise<unknown> {
  const execution = await api.call('readExecution', caller, { params: { execution_id: name } });
  // The list of volumes needs memory of its own.
  caller.room.drop();
  return isJsonObject(execution) ? execution['execution_id'] : undefined;
}
