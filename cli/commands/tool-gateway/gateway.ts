import { Command } from 'commander';
import { gatewayKinds } from '../../tool-gateway/kinds.ts';
import type { CliLaunch } from '../../launch.ts';
import { callCommand } from '../tools.ts';
import { auditCommand } from './audit.ts';
import { kindCommand } from './kind.ts';
import { mcpCommand } from './mcp.ts';
import { registerCommand } from './register.ts';
import { sessionCommand } from './session.ts';

export function gatewayCommand(launch: CliLaunch): Command {
  const command = new Command('gateway')
    .summary('administer the tool gateway')
    .description('Administers the tool gateway: what agents may call, who may call it, and what was done.')
    .addCommand(registerCommand(launch));
  for (const kind of gatewayKinds) command.addCommand(kindCommand(launch, kind));
  return command
    .addCommand(sessionCommand(launch))
    .addCommand(callCommand(launch, 'windlass gateway call'))
    .addCommand(mcpCommand(launch))
    .addCommand(auditCommand(launch));
}
