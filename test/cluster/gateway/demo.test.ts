import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { projectDir } from '../harness/project.ts';

const run = promisify(execFile);

/** Needs the installation of dev/demo/install: the API, the gateway and the identity provider. */
describe('the tour of the tool gateway', () => {
  it('registers, calls by a person and by an agent, and proves the audit, twice the same, and shows no secret', async () => {
    for (let times = 1; times <= 2; times += 1) {
      const { stdout } = await run(join(projectDir, 'dev', 'demo', 'gateway'));
      expect(stdout).toMatch(/orders\.place +workflow/);
      expect(stdout).toMatch(
        /"result":\{"number":"2026-\d{4}","id":"o-\d+","customer":"ada","total":810,"status":"confirmed"\}/,
      );
      expect(stdout).toMatch(/^\d+ notes$/m);
      expect(stdout).toMatch(/^Two packets of tea for ada are ordered; the total is 810 cents\.$/m);
      expect(stdout).toMatch(
        /ToolInvocationCompleted +desk-clerk .*outcome="ok" source="workflow" tool="orders\.place"/,
      );
      expect(stdout).toContain('none is missing or changed');
      expect(stdout).not.toMatch(/eyJ[\w-]{20}|PRIVATE KEY/);
    }
  });
});
