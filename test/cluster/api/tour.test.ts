import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { projectDir } from '../harness/project.ts';

const run = promisify(execFile);

/** Needs the installation of dev/demo/install: the API as the chart runs it, and the identity provider beside it. */
describe('the tour over HTTP', () => {
  it('ORCH-AUTH-01 WF-API-01 takes a token, registers, starts, follows, approves and prints the output', async () => {
    const { stdout } = await run(join(projectDir, 'dev', 'demo', 'over-http'), { env: { ...process.env, SERVER: '' } });
    expect(stdout).toMatch(/"workflow_id":"[0-9a-f-]{36}","name":"approval"/);
    for (const event of ['workflow_execution_started', 'human_approval_requested', 'workflow_execution_completed']) {
      expect(stdout).toContain(`data: {"${event}":`);
    }
    expect(stdout).toContain('"by":"anna"');
    expect(stdout).toContain('{"status":"approved"}');
    expect(stdout).toMatch(/"status": "completed",\s+"final_output": \{\s+"result": "deployed to staging"/);
    expect(stdout).not.toMatch(/eyJ[\w-]{20}/);
  });
});
