import { limits } from '../../../crds/limits.ts';
import { daemonLimits } from '../../../edge/limits.ts';
import { edgeLimits } from '../../../lib/edge/index.ts';
import { characters, entries, items, type LimitGroup, row } from './row.ts';

/** A daemon remembers a command while its token lives, which is until five minutes after the deadline, and for five minutes more. */
const rememberedSeconds = limits.fleetDeadlineSecsDefault + (2 * edgeLimits.skewMs) / 1_000;
const commandsPerSecond = Math.floor(daemonLimits.journalEntries / rememberedSeconds);

export const edge: LimitGroup = {
  title: 'Edge hosts, groups and fleet runs',
  rows: [
    characters('`name` of a host or a group', 'edgeNameLength'),
    items('`tags` of a host, and `AllOf`', 'edgeTags'),
    characters('A tag', 'edgeTagLength'),
    characters('The value of a label', 'edgeLabelLength'),
    items('`tools`, `tags` and `labels` of a selector', 'edgeSelectorItems'),
    items('`pinned_members` of a group', 'edgePinnedMembers'),
    row('Hosts of one fleet run', 'fleetTargets', 'hosts', 'a run takes at most …'),
    row('`args` of a fleet run as JSON', 'fleetArgsBytes', 'bytes', 'bytes of JSON; at most … are allowed'),
    row(
      '`config` pushed to a host, as JSON',
      'edgeConfigBytes',
      'bytes',
      'has more than … bytes of JSON; push it in parts',
    ),
    row('`per_target_deadline_secs`', 'fleetDeadlineSecsMax', 'seconds', 'must be at most …, not …'),
    {
      ...row('`stdout_tail` and `stderr_tail` of a host', 'fleetTailBytes', 'bytes', ''),
      otherwise: 'nothing: only the end is kept',
    },
    {
      ...row('`recent_commands` of a host', 'hostRecentCommands', 'commands', ''),
      otherwise: 'nothing: only the newest are kept',
    },
    entries('`labels` of a host', 'edgeLabels'),
    row(
      'Tags and labels of a host that operators give it, together',
      'edgeTextsLength',
      'characters',
      'tags and labels: have more than … characters together',
    ),
    row(
      'Weight of each tag and label beside its length',
      'edgeTextCharge',
      'characters',
      'each tag and label counts as … more',
    ),
    {
      ...row('Tools and labels that a daemon reports, together', 'edgeFactsLength', 'characters', ''),
      otherwise: 'nothing: the rest is left out, and counted in `facts_left_out`',
    },
    {
      ...row('Weight of each of those tools beside its length', 'edgeToolCharge', 'characters', ''),
      otherwise: 'nothing: a part of the row above',
    },
    items('`local_tools` and `mount_points` of a daemon', 'edgeLocalTools'),
    characters('One of the `mount_points`', 'edgePathLength'),
    row('Commands that a daemon remembers', daemonLimits.journalEntries, 'commands', 'JournalFull'),
    row('Results that a daemon keeps until they are acknowledged', daemonLimits.journalBytes, 'bytes', 'JournalFull'),
    row(
      'Commands to one host for long, with the default deadline: each is remembered for eleven minutes',
      commandsPerSecond,
      'commands a second',
      'JournalFull',
    ),
  ],
};
