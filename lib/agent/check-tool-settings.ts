import { limits } from '../../crds/limits.ts';
import { type Problem, warningAt } from '../../crds/problem.ts';
import { isJsonObject } from '../json-object.ts';

type Place = readonly (string | number)[];

/** Entries of `spec.tools` whose `config` is read; both are of `cmd.run`. */
const commandTools: ReadonlySet<unknown> = new Set(['cmd', 'cmd.run']);

const commandSettings: ReadonlySet<string> = new Set(['subcommand_allowlist', 'timeout_secs']);

/** Warnings of settings of tools that do nothing, or less than they seem to: a first run would show that late. */
export function checkToolSettings(tools: unknown): readonly Problem[] {
  if (!Array.isArray(tools)) return [];
  return tools.slice(0, limits.agentTools).flatMap((tool: unknown, index) => {
    if (!isJsonObject(tool)) return [];
    const place = ['spec', 'tools', index];
    return [...checkExecutor(tool, place), ...checkConfig(tool, place)];
  });
}

/** The name says where a tool runs; `builtin:cmd` beside `cmd` is the form of the specification (spec 3 §10.5). */
function checkExecutor({ name, executor }: Readonly<Record<string, unknown>>, place: Place): Problem[] {
  const own = commandTools.has(name) ? 'cmd' : String(name);
  if (executor === undefined || executor === `builtin:${own}`) return [];
  const message = `does nothing: the name says where ${String(name)} runs; remove it`;
  return [warningAt([...place, 'executor'], 'ignored', message)];
}

function checkConfig({ name, config }: Readonly<Record<string, unknown>>, tool: Place): Problem[] {
  const place = [...tool, 'config'];
  if (commandTools.has(name)) return checkCommands(isJsonObject(config) ? config : {}, place);
  if (config === undefined) return [];
  const message = `does nothing: ${String(name)} has no settings; those of commands belong to the entry cmd`;
  return [warningAt(place, 'ignored', message)];
}

function checkCommands(config: Readonly<Record<string, unknown>>, place: Place): Problem[] {
  const { subcommand_allowlist: list, timeout_secs: seconds } = config;
  const strange = Object.keys(config).filter((key) => !commandSettings.has(key));
  const isTime = seconds === undefined || (typeof seconds === 'number' && seconds > 0);
  return [
    ...checkList(list, [...place, 'subcommand_allowlist']),
    ...(isTime ? [] : [warningAt([...place, 'timeout_secs'], 'type', 'must be a number above 0; it does nothing')]),
    ...strange.slice(0, strangeShown).map((key) => warningAt([...place, key], 'ignored', unknownSetting)),
  ];
}

const strangeShown = 5;
const unknownSetting = 'does nothing; the settings of commands are subcommand_allowlist and timeout_secs';

function checkList(list: unknown, place: Place): Problem[] {
  if (!isJsonObject(list)) {
    const problem = list === undefined ? 'is missing' : 'must be a map of lists';
    return [warningAt(place, 'type', `${problem}; without one such as { git: [status] } every command is refused`)];
  }
  return Object.entries(list).flatMap(([command, permitted]) =>
    Array.isArray(permitted)
      ? []
      : [
          warningAt(
            [...place, command],
            'type',
            'must be a list of first arguments, as [status]; the command is refused',
          ),
        ],
  );
}
