import { pathText, row, text, type ToolRow, whole, words } from './row.ts';

const target = { type: 'object', description: 'Exactly one of Node, Group, Selector and All.' };

const scriptFields = {
  description: text('Purpose of the script.'),
  language: text('Language of the code, such as python.'),
  tags: { type: 'array', items: { type: 'string' }, maxItems: 20, description: 'Words to find it by.' },
};

/** Tools about volumes, files, repositories, scripts and hosts (spec 3 §10.1, §10.2; spec 2 §4.6). */
export const resourcesTools: readonly ToolRow[] = [
  row({
    name: 'svc.file.write',
    description: 'Writes a file of a volume, about 190 KiB at most, in a helper pod.',
    required: {
      volume_id: text('Uid or name of the volume.'),
      path: pathText('Path from the root of the volume.'),
      content: text('Content.'),
    },
    marks: ['judged'],
  }),
  row({
    name: 'svc.file.delete',
    description: 'Deletes a file or a folder of a volume.',
    required: { volume_id: text('Uid or name of the volume.'), path: pathText('Path from the root of the volume.') },
    optional: {
      recursive: { type: 'boolean', default: false, description: 'Whether a folder is deleted with its content.' },
    },
    marks: ['judged'],
  }),
  row({
    name: 'svc.file.mkdir',
    description: 'Makes a folder on a volume.',
    required: { volume_id: text('Uid or name of the volume.'), path: pathText('Path from the root of the volume.') },
    marks: ['judged'],
  }),
  row({
    name: 'svc.volume.create',
    description: 'Makes a persistent volume; its size is rounded up to whole MiB.',
    required: { label: text('Name.'), size_limit_bytes: whole('Size in bytes.', { minimum: 1 }) },
    marks: ['judged'],
  }),
  row({
    name: 'svc.volume.delete',
    description: 'Deletes a volume with its content.',
    required: { volume_id: text('Uid or name of the volume.') },
    marks: ['judged'],
  }),
  row({
    name: 'svc.git.clone',
    description: 'Clones a repository into the folder current of a new volume.',
    required: {
      repo_url: text('https://HOST/PATH or ssh://USER@HOST/PATH, without a password.'),
      label: text('Name of the binding.'),
    },
    optional: {
      ref: text("Branch, tag or commit; default: the server's own branch."),
      secret: text(
        'Name of a Secret of the tenant whose key host names the server; git_secrets of the SecurityContext has to name it.',
      ),
    },
    marks: ['judged'],
  }),
  row({
    name: 'svc.git.refresh',
    description: 'Fetches the newest state of a binding; changes that were not pushed are a refusal.',
    required: { binding_id: text('Id or name of the binding.') },
    marks: ['judged'],
  }),
  row({
    name: 'svc.git.delete',
    description: 'Deletes a binding with its volume.',
    required: { binding_id: text('Id or name of the binding.') },
    marks: ['judged'],
  }),
  row({
    name: 'svc.git.commit',
    description: 'Commits the changes of a binding.',
    required: { binding_id: text('Id or name of the binding.'), message: text('Message of the commit.') },
    marks: ['judged'],
  }),
  row({
    name: 'svc.git.push',
    description:
      'Pushes the commits of a binding to its branch. Where the branch has moved, they are put on top of it; nothing is forced.',
    required: { binding_id: text('Id or name of the binding.') },
    marks: ['judged'],
  }),
  row({
    name: 'svc.script.save',
    description: 'Stores a script; a name that another script has is a CONFLICT.',
    required: { name: text('Name.'), code: text('Source code, at most 128 Ki characters.') },
    optional: scriptFields,
    marks: ['judged'],
  }),
  row({
    name: 'svc.script.update',
    description: 'Replaces a script as a whole; what is not given is gone.',
    required: { id: text('Id of the script.'), name: text('Name.'), code: text('Source code.') },
    optional: scriptFields,
    marks: ['judged'],
  }),
  row({
    name: 'svc.script.delete',
    description: 'Deletes a script.',
    required: { id: text('Id of the script.') },
    marks: ['judged'],
  }),
  row({
    name: 'svc.file.list',
    description: 'Lists the names in a folder of a volume; folders end in /.',
    required: { volume_id: text('Uid or name of the volume.'), path: pathText('Path from the root of the volume.') },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.file.read',
    description: 'Reads a text file of a volume, about 500 KiB at most, in a helper pod.',
    required: { volume_id: text('Uid or name of the volume.'), path: pathText('Path from the root of the volume.') },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.volume.list',
    description: 'Lists volumes.',
    optional: { limit: whole('Entries at most.', { minimum: 1, maximum: 200, default: 50 }) },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.volume.quota',
    description: 'Answers how many volumes the tenant has, what they ask for, and the bounds of its namespace.',
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.git.list',
    description: 'Lists bindings.',
    optional: {
      page: whole('Page, from 1.', { minimum: 1 }),
      limit: whole('Bindings on a page.', { minimum: 1, maximum: 200 }),
    },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.git.status',
    description: 'Answers the commit of a binding and the files that differ from it.',
    required: { binding_id: text('Id or name of the binding.') },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.git.diff',
    description: 'Answers the changes that a commit would hold, as a patch of 48 KiB at most.',
    required: { binding_id: text('Id or name of the binding.') },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.script.list',
    description: 'Lists scripts, without their code, at most 500.',
    optional: { tag: text('Tag to list alone.'), q: words('Words that name and description hold.') },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.script.get',
    description: 'Answers a script.',
    required: { id: text('Id of the script.') },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.edge.fleet.invoke',
    description: 'Runs a tool on many hosts and answers how each ended.',
    required: { target, tool: text('Tool that each host runs.') },
    optional: {
      args: { type: 'object', description: 'Arguments of the tool.' },
      policy: { type: 'object', description: 'How the command is dispatched: mode, max_concurrency, failure_policy.' },
    },
    marks: ['judged'],
  }),
  row({
    name: 'svc.edge.fleet.list',
    description: 'Resolves a target to hosts, without running anything.',
    required: { target },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.edge.fleet.cancel',
    description: 'Cancels a fleet operation on all hosts.',
    required: { fleet_command_id: text('Id of the fleet operation.') },
    marks: ['judged'],
  }),
];
